/** Grammars, which define the permitted texts. */
import { compiled, compiledChoices } from "./compiling.js";
import { Handle, type Owned } from "./handle.js";
import { jsonText, type Schema } from "./json.js";
import { rc } from "./members.js";
import type { Model } from "./model.js";
import type { Tokenizer } from "./tokenizer.js";

/** @c rc_grammar_options */
export interface GrammarOptions {
  // :api: options rc_grammar_options
}

/** @c rc_grammar rc_grammar_create */
export class Grammar extends Handle {
  private constructor(...owned: Owned) {
    super(...owned);
  }

  // :api: release rc_grammar

  /** @c RC_GRAMMAR_JSON_SCHEMA */
  static jsonSchema(
    tokenizer: Tokenizer | Model,
    schema: Schema,
    options?: GrammarOptions,
  ): Promise<Grammar> {
    const text = jsonText(schema, "schema");
    const kind = rc.GRAMMAR_JSON_SCHEMA;
    return Grammar.#create(tokenizer, kind, text, options);
  }

  /** @c RC_GRAMMAR_REGEX */
  static regex(
    tokenizer: Tokenizer | Model,
    expression: string | RegExp,
  ): Promise<Grammar> {
    const text = expression instanceof RegExp ? expression.source : expression;
    return Grammar.#create(tokenizer, rc.GRAMMAR_REGEX, text);
  }

  /** A list of texts; the text is one of them. */
  static async choices(
    tokenizer: Tokenizer | Model,
    choices: readonly string[],
  ): Promise<Grammar> {
    return new Grammar(...(await compiledChoices(tokenizer, choices)));
  }

  /** @c RC_GRAMMAR_GBNF */
  static gbnf(tokenizer: Tokenizer | Model, rules: string): Promise<Grammar> {
    return Grammar.#create(tokenizer, rc.GRAMMAR_GBNF, rules);
  }

  /** @c RC_GRAMMAR_LARK */
  static lark(tokenizer: Tokenizer | Model, rules: string): Promise<Grammar> {
    return Grammar.#create(tokenizer, rc.GRAMMAR_LARK, rules);
  }

  static async #create(
    tokenizer: Tokenizer | Model,
    kind: number,
    text: string,
    options?: GrammarOptions,
  ): Promise<Grammar> {
    return new Grammar(...(await compiled(tokenizer, kind, text, options)));
  }
}
