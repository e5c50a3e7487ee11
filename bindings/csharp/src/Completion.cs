using System.Collections.Generic;
using System.Text;

namespace Runcible {
  /// <summary>A generated text.</summary>
  public sealed class Completion {
    private readonly StringBuilder text = new StringBuilder();
    private readonly List<int> tokens = new List<int>();

    internal Completion() {
    }

    internal void Add(Piece piece) {
      text.Append(piece.Text);
      tokens.AddRange(piece.Tokens);
    }

    /// <summary>The whole text.</summary>
    public string Text => text.ToString();

    /// <summary>The generated tokens.</summary>
    public IReadOnlyList<int> Tokens => tokens;

    /// <summary>How the generation ended.</summary>
    public Report Report { get; internal set; }
  }
}
