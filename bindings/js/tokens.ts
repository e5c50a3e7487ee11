/** Tokens, and options of tokenizing. */
import { rc } from "./members.js";

/** Options for special tokens when a text is tokenized. */
export interface TokenizeOptions {
  /** Add the tokens that the model requires around a text (BOS, ...). Default: true. */
  addSpecial?: boolean | undefined;
  /** @c RC_TOKENIZE_PARSE_SPECIAL */
  parseSpecial?: boolean | undefined;
}

/** Tokens in the form that the library takes. */
export type Tokens = Int32Array | readonly number[];

export function tokenizeFlags(options: TokenizeOptions = {}): number {
  const { addSpecial = true, parseSpecial = false } = options;
  return (
    (addSpecial ? rc.TOKENIZE_ADD_SPECIAL : 0) |
    (parseSpecial ? rc.TOKENIZE_PARSE_SPECIAL : 0)
  );
}
