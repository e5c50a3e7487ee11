/** Embeddings of texts, and scores of documents. */
import type { Entry } from "../protocol.js";
import type { Context, Course } from "./context.js";

export class RowCalls {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  embed(
    course: Course,
    model: number,
    texts: readonly string[],
    options: readonly Entry[],
  ): Promise<Float32Array[]> {
    const { library } = this.#context;
    return this.#rows(course, (user, out) =>
      library.scoped((scope) => {
        const encoded = texts.map((text) => scope.text(text));
        library.check(
          "rc_embed_async",
          this.#context.handles.get(model),
          scope.data(Uint32Array.from(encoded, ([at]) => at)),
          scope.data(Uint32Array.from(encoded, ([, size]) => size)),
          texts.length,
          scope.struct("embed_options", options),
          0,
          this.#context.ends.callback,
          user,
          out,
        );
      }),
    );
  }

  rerank(
    course: Course,
    model: number,
    query: string,
    documents: readonly string[],
    options: readonly Entry[],
  ): Promise<Float32Array[]> {
    const { library } = this.#context;
    return this.#rows(course, (user, out) =>
      library.scoped((scope) => {
        const encoded = documents.map((text) => scope.text(text));
        library.check(
          "rc_rerank_async",
          this.#context.handles.get(model),
          ...scope.text(query),
          scope.data(Uint32Array.from(encoded, ([at]) => at)),
          scope.data(Uint32Array.from(encoded, ([, size]) => size)),
          documents.length,
          scope.struct("rerank_options", options),
          0,
          this.#context.ends.callback,
          user,
          out,
        );
      }),
    );
  }

  async #rows(
    { signal }: Course,
    start: (user: number, out: number) => void,
  ): Promise<Float32Array[]> {
    const { library } = this.#context;
    let embedding = 0;
    const stop = () => library.call("rc_embedding_cancel", embedding);
    try {
      const ended = this.#context.ends.wait((user) => {
        embedding = this.#context.made((out) => start(user, out));
      });
      signal.addEventListener("abort", stop);
      await ended;
      return library.scoped((scope) => {
        const out = scope.room(12);
        library.check("rc_embedding_rows", embedding, out, out + 4, out + 8);
        const count = library.pointer(out + 4);
        const columns = library.pointer(out + 8);
        const all = library.floats(library.pointer(out), count * columns);
        return Array.from({ length: count }, (_, i) =>
          all.subarray(i * columns, (i + 1) * columns),
        );
      });
    } finally {
      signal.removeEventListener("abort", stop);
      library.call("rc_embedding_release", embedding);
    }
  }
}
