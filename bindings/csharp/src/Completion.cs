using System.Collections.Generic;
using System.Text;

namespace Runcible {
  /// <summary>A text that was generated.</summary>
  public sealed class Completion {
    private readonly StringBuilder text = new StringBuilder();
    private readonly List<int> tokens = new List<int>();

    internal Completion() {
    }

    internal void Add(Piece piece) {
      text.Append(piece.Text);
      tokens.AddRange(piece.Tokens);
    }

    /// <summary>The whole of it.</summary>
    public string Text => text.ToString();

    /// <summary>Those generated.</summary>
    public IReadOnlyList<int> Tokens => tokens;

    /// <summary>How it ended.</summary>
    public Report Report { get; internal set; }
  }
}
