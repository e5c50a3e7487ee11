package runcible;

/** {@rc rc_tokenizer} */
public final class Tokenizer extends Handle {
  final tokenizer handle;

  Tokenizer(tokenizer handle) {
    super(handle);
    this.handle = handle;
  }

  /** {@rc rc_tokenizer_open} */
  public static Tokenizer open(String path) {
    return new Tokenizer(
        new tokenizer((Long) Native.tokenizer_open(Text.name(path))));
  }

  /** Converts text to tokens, with the special tokens that the model wants. */
  public int[] tokenize(String text) {
    return tokenize(text, true, false);
  }

  /**
   * Converts text to tokens.
   *
   * @param addSpecial {@rc RC_TOKENIZE_ADD_SPECIAL}
   * @param parseSpecial {@rc RC_TOKENIZE_PARSE_SPECIAL}
   */
  public int[] tokenize(String text, boolean addSpecial, boolean parseSpecial) {
    return tokenize(Text.encode(text), addSpecial, parseSpecial);
  }

  /** The same with bytes that need not be valid UTF-8. */
  public int[] tokenize(byte[] text, boolean addSpecial, boolean parseSpecial) {
    int flags = GenerateOptions.tokenizeFlags(addSpecial, parseSpecial);
    return (int[]) Native.tokenize(handle, text, flags);
  }

  /** Converts tokens to text; special tokens are left out. */
  public String detokenize(int... tokens) {
    return Text.decode(detokenize(tokens, false));
  }

  /** Converts tokens to bytes, which are UTF-8 wherever the tokens are. */
  public byte[] detokenize(int[] tokens, boolean special) {
    return (byte[]) Native.detokenize(handle, tokens, special ? 1 : 0);
  }

  // :api: methods rc_tokenizer
}
