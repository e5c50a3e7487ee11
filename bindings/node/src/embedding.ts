/** Embeddings of texts, and scores of documents. */
import type { Proxy } from "./handle";
import { native } from "./native";
import type { EmbedOptions, RerankOptions } from "./rows";

const poolings = ["auto", "mean", "cls", "last"];

function listOf(texts: Iterable<string>, what: string): Proxy {
  if (typeof texts === "string") {
    throw new TypeError(`${what} must be a list of texts, not one text`);
  }
  const list = new native.text_list();
  for (const text of texts) list.add(text);
  return list;
}

const milliseconds = (deadline: number | undefined): number =>
  Math.ceil(deadline ?? 0);

async function rowsOf(
  embedding: Proxy,
  signal: AbortSignal | undefined,
): Promise<Float32Array[]> {
  const stop = () => native.embedding_cancel(embedding);
  signal?.addEventListener("abort", stop);
  if (signal?.aborted) stop();
  try {
    await native.embedding_wait_later(embedding);
    const [numbers, rows, columns]: [Float32Array, number, number] =
      native.embedding_rows(embedding);
    return Array.from({ length: rows }, (_, i) =>
      numbers.subarray(i * columns, (i + 1) * columns),
    );
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

export async function embedTexts(
  model: Proxy,
  texts: Iterable<string>,
  options: EmbedOptions,
): Promise<Float32Array[]> {
  options.signal?.throwIfAborted();
  const pooling = poolings.indexOf(options.pooling ?? "auto");
  if (pooling < 0) {
    throw new TypeError(`pooling must be one of ${poolings.join(", ")}`);
  }
  const embedding = native.model_embed(
    model,
    listOf(texts, "texts"),
    pooling,
    options.normalize === undefined ? -1 : Number(options.normalize),
    options.dimensions ?? 0,
    Number(options.truncate ?? false),
    options.prompt ?? null,
    options.promptName ?? null,
    options.priority ?? 0,
    milliseconds(options.deadline),
  );
  return rowsOf(embedding, options.signal);
}

export async function scoreDocuments(
  model: Proxy,
  query: string,
  documents: Iterable<string>,
  options: RerankOptions,
): Promise<Float32Array> {
  options.signal?.throwIfAborted();
  const embedding = native.model_rerank(
    model,
    query,
    listOf(documents, "documents"),
    Number(options.rawScores ?? false),
    Number(options.truncate ?? false),
    options.prompt ?? null,
    options.priority ?? 0,
    milliseconds(options.deadline),
  );
  const rows = await rowsOf(embedding, options.signal);
  return Float32Array.from(rows, (row) => row[0]!);
}
