package runcible;

import java.util.List;

/**
 * {@rc rc_grammar rc_grammar_create}
 */
public final class Grammar extends Handle {
  final grammar handle;

  private Grammar(Object made) {
    this(new grammar((Long) made));
  }

  private Grammar(grammar handle) {
    super(handle);
    this.handle = handle;
  }

  /** {@rc RC_GRAMMAR_JSON_SCHEMA} */
  public static Grammar jsonSchema(Tokenizer tokenizer, Object schema) {
    return jsonSchema(tokenizer, schema, new GrammarOptions());
  }

  /** {@rc RC_GRAMMAR_JSON_SCHEMA} */
  public static Grammar jsonSchema(
      Tokenizer tokenizer, Object schema, GrammarOptions options) {
    String text = Json.text(schema, "schema");
    return make(tokenizer, Native.GRAMMAR_JSON_SCHEMA, text, options);
  }

  /** {@rc RC_GRAMMAR_REGEX} */
  public static Grammar regex(Tokenizer tokenizer, String expression) {
    return make(
        tokenizer, Native.GRAMMAR_REGEX, expression, new GrammarOptions());
  }

  /** {@rc RC_GRAMMAR_GBNF} */
  public static Grammar gbnf(Tokenizer tokenizer, String rules) {
    return make(tokenizer, Native.GRAMMAR_GBNF, rules, new GrammarOptions());
  }

  /** {@rc RC_GRAMMAR_LARK} */
  public static Grammar lark(Tokenizer tokenizer, String rules) {
    return make(tokenizer, Native.GRAMMAR_LARK, rules, new GrammarOptions());
  }

  /** Makes a grammar that allows exactly one of these texts. */
  public static Grammar choices(Tokenizer tokenizer, List<String> choices) {
    try (text_list texts = new text_list()) {
      for (String choice : choices) {
        texts.add(Text.name(choice));
      }
      return new Grammar(Native.grammar_of_choices(tokenizer.handle, texts));
    }
  }

  private static Grammar make(
      Tokenizer tokenizer, int kind, String text, GrammarOptions options) {
    byte[] bytes = Text.encode(text);
    try (grammar_options made = options.make()) {
      return new Grammar(
          Native.grammar_create(tokenizer.handle, kind, bytes, made));
    }
  }
}
