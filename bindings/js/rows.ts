/** Options of embeddings of texts, and of scores of documents. */

export interface RowOptions {
  /** Take the beginning of what is too long, instead of ContextFullError. */
  truncate?: boolean | undefined;
  /** Higher is served earlier. */
  priority?: number | undefined;
  /** When it ends at the latest, milliseconds from now. */
  deadline?: number | undefined;
  /** Ends it; the promise rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

export interface EmbedOptions extends RowOptions {
  /** How the rows of a text's tokens become one; else as the file says. */
  pooling?: "auto" | "mean" | "cls" | "last" | undefined;
  /** Whether rows have the length 1; else as the file says. */
  normalize?: boolean | undefined;
  /** The first so many numbers of each row. */
  dimensions?: number | undefined;
  /** Put before each text. */
  prompt?: string | undefined;
  /** "query" or "document", of the prompts of the model. */
  promptName?: string | undefined;
}

export interface RerankOptions extends RowOptions {
  /** What the model gives, a logit, instead of a probability. */
  rawScores?: boolean | undefined;
  /** What a model that generates text is asked, with {query} and {document}. */
  prompt?: string | undefined;
}
