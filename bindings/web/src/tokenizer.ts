/** Text to tokens and back. */
import { Handle, named, shown } from "./handle.js";
import { rc } from "./members.js";
import type * as reports from "./reports.js";

/** What becomes of special tokens when a text is read. */
export interface TokenizeOptions {
  /** Add what the model wants around a text (BOS, ...). True by default. */
  addSpecial?: boolean | undefined;
  /** @c RC_TOKENIZE_PARSE_SPECIAL */
  parseSpecial?: boolean | undefined;
}

/** Tokens as they are told to the library. */
export type Tokens = Int32Array | readonly number[];

export function tokenizeFlags(options: TokenizeOptions = {}): number {
  const { addSpecial = true, parseSpecial = false } = options;
  return (
    (addSpecial ? rc.TOKENIZE_ADD_SPECIAL : 0) |
    (parseSpecial ? rc.TOKENIZE_PARSE_SPECIAL : 0)
  );
}

/** A copy of tokens. */
export function tokensOf(given: Tokens, name: string): Int32Array {
  if (given instanceof Int32Array) return given.slice();
  if (!Array.isArray(given)) {
    throw new TypeError(`${name} must be tokens, not ${shown(given)}`);
  }
  for (const each of given) {
    if (!Number.isInteger(each) || each !== (each | 0)) {
      throw new RangeError(`${name} must be whole numbers, not ${shown(each)}`);
    }
  }
  return Int32Array.from(given);
}

/** @c rc_tokenizer */
export class Tokenizer extends Handle {
  // :api: release rc_tokenizer

  /** @c rc_tokenize */
  tokenize(
    text: string | Uint8Array,
    options?: TokenizeOptions,
  ): Promise<Int32Array> {
    return this._ask("tokenize", text, tokenizeFlags(options));
  }

  /** @c rc_detokenize */
  async detokenize(
    tokens: Tokens,
    options: { special?: boolean } = {},
  ): Promise<string> {
    const bytes = await this.detokenizeBytes(tokens, options);
    return new TextDecoder().decode(bytes);
  }

  /** @c rc_detokenize */
  detokenizeBytes(
    tokens: Tokens,
    options: { special?: boolean } = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    const { special = false } = options;
    return this._ask("detokenize", tokensOf(tokens, "tokens"), special);
  }

  // :api: methods rc_tokenizer
}
named(Tokenizer, "Tokenizer");
