/** Embeddings of texts, and scores of documents. */
import { milliseconds, numberOf, type Handle } from "./handle.js";
import { rc } from "./members.js";
import type { Entry } from "./protocol.js";
import type { EmbedOptions, RerankOptions, RowOptions } from "./rows.js";

const poolings: Readonly<Record<string, number>> = {
  auto: rc.POOLING_AUTO,
  mean: rc.POOLING_MEAN,
  cls: rc.POOLING_FIRST,
  last: rc.POOLING_LAST,
};

function listOf(texts: Iterable<string>, what: string): string[] {
  if (typeof texts === "string") {
    throw new TypeError(`${what} must be a list of texts, not one text`);
  }
  return Array.from(texts, (text) => {
    if (typeof text === "string") return text;
    throw new TypeError(`${what} must be texts, not ${String(text)}`);
  });
}

function shared(options: RowOptions): Entry[] {
  const { truncate = false, priority = 0, deadline } = options;
  const entries: Entry[] = [
    ["truncate", Number(truncate)],
    ["priority", numberOf("priority", priority, "int32")],
  ];
  if (deadline !== undefined) {
    entries.push(["deadline_ms", milliseconds(deadline, "deadline")]);
  }
  return entries;
}

export async function embedTexts(
  model: Handle,
  texts: Iterable<string>,
  options: EmbedOptions,
): Promise<Float32Array[]> {
  const pooling = poolings[options.pooling ?? "auto"];
  if (pooling === undefined) {
    throw new TypeError(
      `pooling must be one of ${Object.keys(poolings).join(", ")}`,
    );
  }
  const { normalize, dimensions = 0, prompt, promptName } = options;
  const entries = shared(options);
  entries.push(["pooling", pooling]);
  if (normalize !== undefined) entries.push(["normalize", Number(normalize)]);
  entries.push(["dimensions", numberOf("dimensions", dimensions, "int64")]);
  if (prompt !== undefined) entries.push(["prompt", prompt]);
  if (promptName !== undefined) entries.push(["prompt_name", promptName]);
  const { signal } = options;
  return model._askWith({ signal }, "embed", listOf(texts, "texts"), entries);
}

export async function scoreDocuments(
  model: Handle,
  query: string,
  documents: Iterable<string>,
  options: RerankOptions,
): Promise<Float32Array> {
  const { rawScores = false, prompt, signal } = options;
  const entries = shared(options);
  entries.push(["raw_scores", Number(rawScores)]);
  if (prompt !== undefined) entries.push(["prompt", prompt]);
  const rows: Float32Array[] = await model._askWith(
    { signal },
    "rerank",
    query,
    listOf(documents, "documents"),
    entries,
  );
  return Float32Array.from(rows, (row) => row[0]!);
}
