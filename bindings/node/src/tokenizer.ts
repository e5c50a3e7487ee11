/** Text to tokens and back. */
import { TokenizerHandle, pathOf, plain, type Path, type Proxy } from "./handle";
import { native } from "./native";
import type * as reports from "./reports";
import { readReport } from "./report_values";
import { tokenizeFlags, type TokenizeOptions, type Tokens } from "./tokens";

/** @c rc_tokenizer */
export class Tokenizer extends TokenizerHandle {
  /** @internal */
  constructor(proxy: Proxy) {
    super(proxy);
  }

  // :api: release rc_tokenizer

  /** @c rc_tokenizer_open */
  static async open(path: Path): Promise<Tokenizer> {
    return new Tokenizer(await native.tokenizer_open_later(pathOf(path)));
  }

  /** @c rc_tokenize */
  tokenize(text: string | Uint8Array, options?: TokenizeOptions): Int32Array {
    return native.tokenize(this._handle, text, tokenizeFlags(options));
  }

  /** @c rc_detokenize */
  detokenize(tokens: Tokens, options: { special?: boolean } = {}): string {
    return Buffer.from(this.detokenizeBytes(tokens, options)).toString();
  }

  /** @c rc_detokenize */
  detokenizeBytes(
    tokens: Tokens,
    options: { special?: boolean } = {},
  ): Uint8Array {
    const { special = false } = options;
    const given = plain(tokens);
    return native.detokenize(this._handle, given, special);
  }

  // :api: methods rc_tokenizer
}
