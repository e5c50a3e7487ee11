using System.Collections.Generic;
using Runcible.Native;

namespace Runcible {
  /// <summary>{@rc rc_grammar rc_grammar_create}</summary>
  public sealed class Grammar : Handle {
    internal readonly grammar handle;

    private Grammar(grammar handle) : base(handle) {
      this.handle = handle;
    }

    /// <summary>{@rc RC_GRAMMAR_JSON_SCHEMA}</summary>
    /// <remarks>The schema is JSON, a boolean, or an object: a dictionary, an
    /// anonymous object, a value of a JSON library.</remarks>
    public static Grammar JsonSchema(
        Tokenizer tokenizer, object schema, GrammarOptions options = null) =>
        Make(
            tokenizer, native.GRAMMAR_JSON_SCHEMA,
            Json.Text(schema, nameof(schema)), options);

    /// <summary>{@rc RC_GRAMMAR_REGEX}</summary>
    public static Grammar Regex(Tokenizer tokenizer, string expression) =>
        Make(tokenizer, native.GRAMMAR_REGEX, expression, null);

    /// <summary>{@rc RC_GRAMMAR_GBNF}</summary>
    public static Grammar Gbnf(Tokenizer tokenizer, string rules) =>
        Make(tokenizer, native.GRAMMAR_GBNF, rules, null);

    /// <summary>{@rc RC_GRAMMAR_LARK}</summary>
    public static Grammar Lark(Tokenizer tokenizer, string rules) =>
        Make(tokenizer, native.GRAMMAR_LARK, rules, null);

    /// <summary>Makes a grammar that allows exactly one of these
    /// texts.</summary>
    public static Grammar Choices(
        Tokenizer tokenizer, IEnumerable<string> choices) {
      using (var texts = new text_list()) {
        foreach (string choice in choices) {
          texts.add(Memory.Name(choice));
        }
        native.grammar_of_choices(tokenizer.handle, texts, out var made);
        return new Grammar(new grammar(made));
      }
    }

    private static Grammar Make(
        Tokenizer tokenizer, int kind, string text, GrammarOptions options) {
      byte[] bytes = Memory.Encode(text);
      using (grammar_options given = (options ?? new GrammarOptions()).Make()) {
        native.grammar_create(
            tokenizer.handle, kind, bytes, (ulong)bytes.Length, given,
            out var made);
        return new Grammar(new grammar(made));
      }
    }
  }
}
