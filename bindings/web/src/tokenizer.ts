/** Text to tokens and back. */
import { Handle, named, shown } from "./handle.js";
import type * as reports from "./reports.js";
import { tokenizeFlags, type TokenizeOptions, type Tokens } from "./tokens.js";

/** Returns a copy of tokens. */
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
