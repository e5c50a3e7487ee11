using Runcible.Native;

namespace Runcible {
  /// <summary>{@rc rc_tokenizer}</summary>
  public sealed class Tokenizer : Handle {
    internal readonly tokenizer handle;

    internal Tokenizer(tokenizer handle) : base(handle) {
      this.handle = handle;
    }

    /// <summary>{@rc rc_tokenizer_open}</summary>
    public Tokenizer(string path) : this(Open(path)) {
    }

    private static tokenizer Open(string path) {
      native.tokenizer_open(Memory.Name(path), out var opened);
      return new tokenizer(opened);
    }

    /// <summary>{@rc rc_tokenize}</summary>
    public int[] Tokenize(
        string text, bool addSpecial = true, bool parseSpecial = false) =>
        Tokenize(Memory.Encode(text), addSpecial, parseSpecial);

    /// <summary>The same with bytes that need not be valid UTF-8.</summary>
    public int[] Tokenize(
        byte[] text, bool addSpecial = true, bool parseSpecial = false) {
      native.tokenize(
          handle, text, (ulong)text.Length,
          GenerateOptions.TokenizeFlags(addSpecial, parseSpecial),
          out var tokens, out ulong count);
      return Memory.TakeInts(tokens, count);
    }

    /// <summary>{@rc rc_detokenize}</summary>
    public byte[] DetokenizeBytes(int[] tokens, bool special = false) {
      native.detokenize(
          handle, tokens, (ulong)tokens.Length, special ? 1 : 0, out var text,
          out ulong length);
      return Memory.TakeBytes(text, length);
    }

    /// <summary>The same as a text.</summary>
    public string Detokenize(int[] tokens, bool special = false) =>
        System.Text.Encoding.UTF8.GetString(DetokenizeBytes(tokens, special));

    // :api: methods rc_tokenizer
  }
}
