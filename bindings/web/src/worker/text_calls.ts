/** Tokenizers and grammars. */
import type { Entry } from "../protocol.js";
import type { Context, Course } from "./context.js";

export class TextCalls {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  tokenizer(_: Course, model: number, id: number): void {
    this.#context.handles.make(id, () =>
      this.#context.made((out) =>
        this.#context.library.check(
          "rc_model_get_tokenizer",
          this.#context.handles.get(model),
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
    const { library } = this.#context;
    return library.scoped((scope) => {
      const out = scope.room(8);
      const [at, size] = scope.text(text);
      const tokenizer = this.#context.handles.get(id);
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
    const { library } = this.#context;
    return library.scoped((scope) => {
      const out = scope.room(8);
      library.check(
        "rc_detokenize",
        this.#context.handles.get(id),
        scope.data(tokens),
        tokens.length,
        Number(special),
        out,
        out + 4,
      );
      return this.#context.ownedBytes(library.pointer(out), library.pointer(out + 4));
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
    const { library } = this.#context;
    library.scoped((scope) => {
      const made = this.#context.made((out) =>
        library.check(
          "rc_grammar_create",
          this.#context.handles.get(tokenizer),
          kind,
          ...scope.text(text),
          scope.struct("grammar_options", options),
          out,
        ),
      );
      this.#context.handles.add(id, made);
    });
  }

  choices(
    _: Course,
    tokenizer: number,
    id: number,
    choices: readonly string[],
  ): void {
    const { library } = this.#context;
    library.scoped((scope) => {
      const texts = scope.texts(choices, "choices");
      const made = this.#context.made((out) =>
        library.check(
          "rc_grammar_create_choices",
          this.#context.handles.get(tokenizer),
          texts,
          choices.length,
          out,
        ),
      );
      this.#context.handles.add(id, made);
    });
  }
}
