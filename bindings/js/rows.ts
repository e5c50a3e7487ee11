/** Options of embeddings of texts, and of scores of documents. */

export interface RowOptions {
  /** Truncate texts that are too long, instead of throwing ContextFullError. */
  truncate?: boolean | undefined;
  /** Higher is served earlier. */
  priority?: number | undefined;
  /** The deadline, in milliseconds from now. */
  deadline?: number | undefined;
  /** Ends the work; the promise rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

export interface EmbedOptions extends RowOptions {
  /** Combines the rows of a text's tokens; the file's choice by default. */
  pooling?: "auto" | "mean" | "cls" | "last" | undefined;
  /** Whether rows have the length 1; the file's choice by default. */
  normalize?: boolean | undefined;
  /** The number of dimensions to keep of each row. */
  dimensions?: number | undefined;
  /** Put before each text. */
  prompt?: string | undefined;
  /** One of the prompts of the model, "query" or "document". */
  promptName?: string | undefined;
}

export interface RerankOptions extends RowOptions {
  /** Return the model's logit instead of a probability. */
  rawScores?: boolean | undefined;
  /** The prompt of a model that generates text, with {query} and {document}. */
  prompt?: string | undefined;
}
