/** What the page may ask for, by name. */
import type { Entry, EventValues, Progress, Source, Wanted } from "../protocol.js";
import { Cache } from "./cache.js";
import { Ends } from "./ends.js";
import { Files } from "./files.js";
import { Handles } from "./handles.js";
import type { Library } from "./library.js";
import { told } from "./reports.js";
import { standBy } from "./module.js";
import { Requests } from "./requests.js";
import { status, StatusError } from "./status.js";

/** Of a call that may take long. */
export interface Course {
  readonly signal: AbortSignal;
  progress(fraction: number, of: Progress): void;
}

/** Of a load that fetches, the part that fetching is. */
const FETCHING = 0.9;

/** A name that JavaScript may call with what a plain function takes. */
type Given = number | bigint | { readonly handle: number };

export class Calls {
  readonly #library: Library;
  readonly #handles: Handles;
  readonly #ends: Ends;
  readonly #requests: Requests;
  readonly #files: Files;
  readonly #cache = new Cache();

  constructor(
    library: Library,
    tellEvents: (events: readonly EventValues[]) => void,
  ) {
    this.#library = library;
    this.#handles = new Handles(library);
    this.#ends = new Ends(library);
    this.#requests = new Requests(library, this.#handles, tellEvents);
    this.#files = new Files(library.module, this.#cache);
  }

  // ---- Backends and models

  async open(
    course: Course,
    id: number,
    spec: string | undefined,
    options: readonly Entry[],
  ): Promise<void> {
    const library = this.#library;
    const pointer = await this.#ends.waitWithProgress(
      this.#asked(course, 0, 1),
      (user, progress) =>
        library.scoped((scope) =>
          library.check(
            "rc_backend_open_async",
            spec === undefined ? 0 : scope.plainText(spec, "spec"),
            scope.struct("backend_options", [...options, ...progress]),
            0,
            this.#ends.callback,
            user,
          ),
        ),
    );
    this.#handles.add(id, pointer);
    standBy(library.module);
  }

  async discover(): Promise<object> {
    const library = this.#library;
    const list = await this.#ends.wait((user) =>
      library.check("rc_discover_async", 0, 0, 0, this.#ends.callback, user),
    );
    try {
      const count: number = library.call("rc_device_list_count", list);
      const devices = Array.from({ length: count }, (_, i) =>
        told(library, "rc_device_list_get", "device_report", list, i),
      );
      const automatic = library.text(
        library.call("rc_device_list_automatic", list),
      );
      return { devices, automatic };
    } finally {
      library.call("rc_device_list_release", list);
    }
  }

  async load(
    course: Course,
    backend: number,
    id: number,
    source: Source,
    options: readonly Entry[],
  ): Promise<void> {
    const library = this.#library;
    const fetched = "files" in source ? 0 : FETCHING;
    const file = await this.#files.take(source, {
      signal: course.signal,
      progress: (fraction, of) => course.progress(fetched * fraction, of),
    });
    try {
      const pointer = await this.#ends.waitWithProgress(
        this.#asked(course, fetched, 1),
        (user, progress) =>
          library.scoped((scope) =>
            library.check(
              "rc_model_load_async",
              this.#handles.get(backend),
              scope.plainText(file.path, "name"),
              scope.struct("model_options", [...options, ...progress]),
              0,
              this.#ends.callback,
              user,
            ),
          ),
      );
      this.#handles.add(id, pointer);
      this.#handles.whenReleased(id, file.leave);
      standBy(library.module);
      course.progress(1, { stage: "load", bytes: 0, total: 0 });
    } catch (error) {
      file.leave();
      throw error;
    }
  }

  #asked(course: Course, from: number, to: number) {
    return (fraction: number) => {
      course.progress(from + (to - from) * fraction, {
        stage: "load",
        bytes: 0,
        total: 0,
      });
      return course.signal.aborted;
    };
  }

  cachedModels(): Promise<object[]> {
    return this.#cache.list();
  }

  removeCachedModel(_: Course, url: string): Promise<void> {
    return this.#cache.remove(url);
  }

  metadata(_: Course, model: number): Record<string, unknown> {
    const library = this.#library;
    return library.scoped((scope) => {
      const out = scope.room(8);
      library.check("rc_model_get_info", this.#handles.get(model), out);
      const info = library.pointer(out);
      try {
        const values: Record<string, unknown> = {};
        const count: number = library.call("rc_model_info_metadata_count", info);
        for (let i = 0; i < count; ++i) {
          library.check("rc_model_info_metadata", info, i, out, out + 4);
          const key = library.pointer(out);
          const name = library.text(key);
          library.check("rc_model_info_value", info, key, 0, out);
          values[name] = JSON.parse(this.#ownedText(library.pointer(out)));
        }
        return values;
      } finally {
        library.call("rc_model_info_release", info);
      }
    });
  }

  // ---- Reports and plain functions

  told(_: Course, id: number, name: string, struct: string): object {
    return told(this.#library, name, struct, this.#handles.get(id));
  }

  plain(
    _: Course,
    id: number,
    name: string,
    gives: string,
    ...given: readonly Given[]
  ): unknown {
    const library = this.#library;
    const args = this.#args(name, given);
    return library.scoped((scope) => {
      const out = scope.room(8);
      const call = (...outs: number[]) =>
        library.check(name, this.#handles.get(id), ...args, ...outs);
      switch (gives) {
        case "":
          return call();
        case "int64":
          call(out);
          return Number(library.view.getBigInt64(out, true));
        case "tokens": {
          call(out, out + 4);
          const at = library.pointer(out);
          const tokens = library.int32s(at, library.pointer(out + 4));
          library.call("rc_free", at);
          return tokens;
        }
        case "bytes":
          call(out, out + 4);
          return this.#ownedBytes(library.pointer(out), library.pointer(out + 4));
        case "json":
          call(out);
          return JSON.parse(library.text(library.pointer(out)));
        case "owned json":
          call(out);
          return JSON.parse(this.#ownedText(library.pointer(out)));
        default:
          throw new StatusError(status.INTERNAL, `${name} gives ${gives}`);
      }
    });
  }

  /** Makes another handle of the same kind. */
  child(
    _: Course,
    of: number,
    name: string,
    id: number,
    ...given: readonly Given[]
  ): void {
    const args = this.#args(name, given);
    this.#handles.add(
      id,
      this.#made((out) =>
        this.#library.check(name, this.#handles.get(of), ...args, out),
      ),
    );
  }

  #args(name: string, given: readonly Given[]): (number | bigint)[] {
    return given.map((each) => {
      if (typeof each === "object") return this.#handles.get(each.handle);
      if (!Number.isSafeInteger(Number(each))) {
        throw new StatusError(
          status.INVALID_ARGUMENT,
          `${name.replace(/^rc_\w+_/, "")} takes a whole number, not ${each}`,
        );
      }
      return BigInt(each);
    });
  }

  // ---- Tokenizers and grammars

  tokenizer(_: Course, model: number, id: number): void {
    this.#handles.make(id, () =>
      this.#made((out) =>
        this.#library.check(
          "rc_model_get_tokenizer",
          this.#handles.get(model),
          out,
        ),
      ),
    );
  }

  tokenize(
    _: Course,
    id: number,
    text: string | Uint8Array,
    flags: number,
  ): Int32Array {
    const library = this.#library;
    return library.scoped((scope) => {
      const out = scope.room(8);
      const [at, size] = scope.text(text);
      const tokenizer = this.#handles.get(id);
      library.check("rc_tokenize", tokenizer, at, size, flags, out, out + 4);
      const tokens = library.int32s(
        library.pointer(out),
        library.pointer(out + 4),
      );
      library.call("rc_free", library.pointer(out));
      return tokens;
    });
  }

  detokenize(
    _: Course,
    id: number,
    tokens: Int32Array,
    special: boolean,
  ): Uint8Array {
    const library = this.#library;
    return library.scoped((scope) => {
      const out = scope.room(8);
      library.check(
        "rc_detokenize",
        this.#handles.get(id),
        scope.data(tokens),
        tokens.length,
        Number(special),
        out,
        out + 4,
      );
      return this.#ownedBytes(library.pointer(out), library.pointer(out + 4));
    });
  }

  grammar(
    _: Course,
    tokenizer: number,
    id: number,
    kind: number,
    text: string,
    options: readonly Entry[],
  ): void {
    const library = this.#library;
    library.scoped((scope) => {
      const made = this.#made((out) =>
        library.check(
          "rc_grammar_create",
          this.#handles.get(tokenizer),
          kind,
          ...scope.text(text),
          scope.struct("grammar_options", options),
          out,
        ),
      );
      this.#handles.add(id, made);
    });
  }

  choices(
    _: Course,
    tokenizer: number,
    id: number,
    choices: readonly string[],
  ): void {
    const library = this.#library;
    library.scoped((scope) => {
      const texts = scope.texts(choices, "choices");
      const made = this.#made((out) =>
        library.check(
          "rc_grammar_create_choices",
          this.#handles.get(tokenizer),
          texts,
          choices.length,
          out,
        ),
      );
      this.#handles.add(id, made);
    });
  }

  // ---- Sessions

  session(
    _: Course,
    model: number,
    id: number,
    options: readonly Entry[],
  ): void {
    const library = this.#library;
    this.#handles.make(id, () =>
      library.scoped((scope) => {
        const made = scope.struct("session_options", options);
        return this.#made((out) =>
          library.check(
            "rc_session_create",
            this.#handles.get(model),
            made,
            out,
          ),
        );
      }),
    );
  }

  restore(
    _: Course,
    model: number,
    id: number,
    saved: Uint8Array,
    options: readonly Entry[],
  ): void {
    const library = this.#library;
    library.scoped((scope) => {
      const made = scope.struct("session_options", options);
      const data = scope.data(saved);
      const session = this.#made((out) =>
        library.check(
          "rc_session_restore_memory",
          this.#handles.get(model),
          data,
          saved.length,
          made,
          out,
        ),
      );
      this.#handles.add(id, session);
    });
  }

  appendText(
    _: Course,
    id: number,
    text: string | Uint8Array,
    flags: number,
  ): void {
    const library = this.#library;
    library.scoped((scope) =>
      library.check(
        "rc_session_append_text",
        this.#handles.get(id),
        ...scope.text(text),
        flags,
      ),
    );
  }

  appendTokens(_: Course, id: number, tokens: Int32Array): void {
    const library = this.#library;
    library.scoped((scope) =>
      library.check(
        "rc_session_append",
        this.#handles.get(id),
        scope.data(tokens),
        tokens.length,
      ),
    );
  }

  decode(_: Course, id: number, flags: number): void {
    this.#library.check("rc_session_decode", this.#handles.get(id), flags);
  }

  logits(_: Course, id: number): [Float32Array, number, number] {
    const library = this.#library;
    return library.scoped((scope) => {
      const out = scope.room(12);
      const session = this.#handles.get(id);
      library.check("rc_session_logits", session, out, out + 4, out + 8);
      const rows = library.pointer(out + 4);
      const vocabulary = library.pointer(out + 8);
      const data = library.floats(library.pointer(out), rows * vocabulary);
      return [data, rows, vocabulary];
    });
  }

  generate(_: Course, key: number, session: number, wanted: Wanted): void {
    this.#requests.begin("rc_generate_async", key, session, wanted);
  }

  cancel(_: Course, key: number): void {
    this.#requests.cancel(key);
  }

  // ---- Conversations

  chat(
    _: Course,
    session: number,
    id: number,
    options: readonly Entry[],
  ): void {
    const library = this.#library;
    this.#handles.make(id, () =>
      library.scoped((scope) => {
        const made = scope.struct("chat_options", options);
        return this.#made((out) =>
          library.check(
            "rc_chat_create",
            this.#handles.get(session),
            made,
            out,
          ),
        );
      }),
    );
  }

  chatAdd(_: Course, id: number, messages: string): void {
    const library = this.#library;
    library.scoped((scope) =>
      library.check(
        "rc_chat_add",
        this.#handles.get(id),
        ...scope.text(messages),
      ),
    );
  }

  chatUndo(_: Course, id: number, count: number): void {
    if (!Number.isInteger(count) || count < 0 || count >= 2 ** 32) {
      throw new StatusError(
        status.INVALID_ARGUMENT,
        `count must be a number of messages, not ${count}`,
      );
    }
    this.#library.check("rc_chat_undo", this.#handles.get(id), count);
  }

  chatMessages(_: Course, id: number): object[] {
    const library = this.#library;
    return library.scoped((scope) => {
      const out = scope.room(4);
      library.check("rc_chat_messages", this.#handles.get(id), out, 0);
      return JSON.parse(this.#ownedText(library.pointer(out)));
    });
  }

  answer(_: Course, key: number, chat: number, wanted: Wanted): void {
    this.#requests.begin("rc_chat_answer_async", key, chat, wanted);
  }

  // ---- Embeddings

  embed(
    course: Course,
    model: number,
    texts: readonly string[],
    options: readonly Entry[],
  ): Promise<Float32Array[]> {
    const library = this.#library;
    return this.#rows(course, (user, out) =>
      library.scoped((scope) => {
        const encoded = texts.map((text) => scope.text(text));
        library.check(
          "rc_embed_async",
          this.#handles.get(model),
          scope.data(Uint32Array.from(encoded, ([at]) => at)),
          scope.data(Uint32Array.from(encoded, ([, size]) => size)),
          texts.length,
          scope.struct("embed_options", options),
          0,
          this.#ends.callback,
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
    const library = this.#library;
    return this.#rows(course, (user, out) =>
      library.scoped((scope) => {
        const encoded = documents.map((text) => scope.text(text));
        library.check(
          "rc_rerank_async",
          this.#handles.get(model),
          ...scope.text(query),
          scope.data(Uint32Array.from(encoded, ([at]) => at)),
          scope.data(Uint32Array.from(encoded, ([, size]) => size)),
          documents.length,
          scope.struct("rerank_options", options),
          0,
          this.#ends.callback,
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
    const library = this.#library;
    let embedding = 0;
    const stop = () => library.call("rc_embedding_cancel", embedding);
    try {
      const ended = this.#ends.wait((user) => {
        embedding = this.#made((out) => start(user, out));
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

  // ---- What all need

  release(_: Course, id: number, releasing: string): void {
    this.#handles.release(id, releasing);
  }

  /** The handle that a function gives through a pointer. */
  #made(make: (out: number) => void): number {
    return this.#library.scoped((scope) => {
      const out = scope.room(4);
      make(out);
      return this.#library.pointer(out);
    });
  }

  #ownedText(at: number): string {
    const text = this.#library.text(at);
    this.#library.call("rc_free", at);
    return text;
  }

  #ownedBytes(at: number, size: number): Uint8Array {
    const bytes = this.#library.copy(at, size);
    this.#library.call("rc_free", at);
    return bytes;
  }
}
