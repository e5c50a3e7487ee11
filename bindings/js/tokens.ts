/** Tokens, and how texts become them. */
import { rc } from "./members.js";

/** What becomes of special tokens when a text is read. */
export interface TokenizeOptions {
  /** Add what the model wants around a text (BOS, ...). True by default. */
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
