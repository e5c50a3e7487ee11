/** Sessions and conversations, and their generations. */
import type { Entry, Wanted } from "../protocol.js";
import type { Context, Course } from "./context.js";
import type { Requests } from "./requests.js";
import { status, StatusError } from "./status.js";

export class SessionCalls {
  readonly #context: Context;
  readonly #requests: Requests;

  constructor(context: Context, requests: Requests) {
    this.#context = context;
    this.#requests = requests;
  }

  session(
    _: Course,
    model: number,
    id: number,
    options: readonly Entry[],
  ): void {
    const { library } = this.#context;
    this.#context.handles.make(id, () =>
      library.scoped((scope) => {
        const made = scope.struct("session_options", options);
        return this.#context.made((out) =>
          library.check(
            "rc_session_create",
            this.#context.handles.get(model),
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
    const { library } = this.#context;
    library.scoped((scope) => {
      const made = scope.struct("session_options", options);
      const data = scope.data(saved);
      const session = this.#context.made((out) =>
        library.check(
          "rc_session_restore_memory",
          this.#context.handles.get(model),
          data,
          saved.length,
          made,
          out,
        ),
      );
      this.#context.handles.add(id, session);
    });
  }

  appendText(
    _: Course,
    id: number,
    text: string | Uint8Array,
    flags: number,
  ): void {
    const { library } = this.#context;
    library.scoped((scope) =>
      library.check(
        "rc_session_append_text",
        this.#context.handles.get(id),
        ...scope.text(text),
        flags,
      ),
    );
  }

  appendTokens(_: Course, id: number, tokens: Int32Array): void {
    const { library } = this.#context;
    library.scoped((scope) =>
      library.check(
        "rc_session_append",
        this.#context.handles.get(id),
        scope.data(tokens),
        tokens.length,
      ),
    );
  }

  decode(_: Course, id: number, flags: number): void {
    this.#context.library.check("rc_session_decode", this.#context.handles.get(id), flags);
  }

  logits(_: Course, id: number): [Float32Array, number, number] {
    const { library } = this.#context;
    return library.scoped((scope) => {
      const out = scope.room(12);
      const session = this.#context.handles.get(id);
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

  chat(
    _: Course,
    session: number,
    id: number,
    options: readonly Entry[],
  ): void {
    const { library } = this.#context;
    this.#context.handles.make(id, () =>
      library.scoped((scope) => {
        const made = scope.struct("chat_options", options);
        return this.#context.made((out) =>
          library.check(
            "rc_chat_create",
            this.#context.handles.get(session),
            made,
            out,
          ),
        );
      }),
    );
  }

  chatAdd(_: Course, id: number, messages: string): void {
    const { library } = this.#context;
    library.scoped((scope) =>
      library.check(
        "rc_chat_add",
        this.#context.handles.get(id),
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
    this.#context.library.check("rc_chat_undo", this.#context.handles.get(id), count);
  }

  chatMessages(_: Course, id: number): object[] {
    const { library } = this.#context;
    return library.scoped((scope) => {
      const out = scope.room(4);
      library.check("rc_chat_messages", this.#context.handles.get(id), out, 0);
      return JSON.parse(this.#context.ownedText(library.pointer(out)));
    });
  }

  answer(_: Course, key: number, chat: number, wanted: Wanted): void {
    this.#requests.begin("rc_chat_answer_async", key, chat, wanted);
  }
}
