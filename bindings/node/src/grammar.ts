/** Grammars, which say what a text may be. */
import {
  Handle,
  ModelHandle,
  TokenizerHandle,
  optionsOf,
  shown,
  type Proxy,
} from "./handle";
import { jsonText, type Schema } from "./json";
import type { Model } from "./model";
import { native } from "./native";
import type { Tokenizer } from "./tokenizer";

/** @c rc_grammar_options */
export interface GrammarOptions {
  // :api: options rc_grammar_options
}

/** @c rc_grammar rc_grammar_create */
export class Grammar extends Handle {
  private constructor(proxy: Proxy) {
    super(proxy);
  }

  // :api: release rc_grammar

  /** @c RC_GRAMMAR_JSON_SCHEMA */
  static jsonSchema(
    tokenizer: Tokenizer | Model,
    schema: Schema,
    options?: GrammarOptions,
  ): Promise<Grammar> {
    const text = jsonText(schema, "schema");
    const kind = native.GRAMMAR_JSON_SCHEMA;
    return Grammar.#create(tokenizer, kind, text, options);
  }

  /** @c RC_GRAMMAR_REGEX */
  static regex(
    tokenizer: Tokenizer | Model,
    expression: string | RegExp,
  ): Promise<Grammar> {
    const text = expression instanceof RegExp ? expression.source : expression;
    return Grammar.#create(tokenizer, native.GRAMMAR_REGEX, text);
  }

  /** A list of texts, of which the text is one. */
  static async choices(
    tokenizer: Tokenizer | Model,
    choices: readonly string[],
  ): Promise<Grammar> {
    const handle = tokenizerOf(tokenizer);
    const texts = new native.text_list();
    for (const choice of choices) texts.add(choice);
    return new Grammar(await native.grammar_of_choices_later(handle, texts));
  }

  /** @c RC_GRAMMAR_GBNF */
  static gbnf(tokenizer: Tokenizer | Model, rules: string): Promise<Grammar> {
    return Grammar.#create(tokenizer, native.GRAMMAR_GBNF, rules);
  }

  /** @c RC_GRAMMAR_LARK */
  static lark(tokenizer: Tokenizer | Model, rules: string): Promise<Grammar> {
    return Grammar.#create(tokenizer, native.GRAMMAR_LARK, rules);
  }

  static async #create(
    tokenizer: Tokenizer | Model,
    kind: number,
    text: string,
    options?: GrammarOptions,
  ): Promise<Grammar> {
    const handle = tokenizerOf(tokenizer);
    const made = optionsOf("grammar_options", options);
    return new Grammar(
      await native.grammar_create_later(handle, kind, text, made),
    );
  }
}

/** The library's tokenizer of a tokenizer or a model. */
function tokenizerOf(tokenizer: Tokenizer | Model): Proxy {
  const given: unknown = tokenizer;
  if (given instanceof TokenizerHandle) return given._handle;
  if (given instanceof ModelHandle) {
    return native.model_get_tokenizer(given._handle);
  }
  throw new TypeError(
    `tokenizer must be a Tokenizer or a Model, not ${shown(given)}`,
  );
}
