using System.Collections.Generic;

namespace Runcible {
  /// <summary>A part of an answer: a Piece of text, Reasoning or a
  /// ToolCall.</summary>
  public abstract class Part {
    internal Part() {
    }
  }

  /// <summary>Text that the model thinks before it answers.</summary>
  public sealed class Reasoning : Part {
    internal Reasoning(Piece piece) {
      Text = piece.Text;
      Tokens = piece.Tokens;
    }

    /// <summary>The text, possibly empty.</summary>
    public string Text { get; }

    /// <summary>The tokens generated since the last part.</summary>
    public IReadOnlyList<int> Tokens { get; }

    /// <summary>Returns the text.</summary>
    public override string ToString() => Text;
  }

  /// <summary>A complete call of a tool.</summary>
  public sealed class ToolCall : Part {
    internal ToolCall(string id, string name, string arguments) {
      Id = id;
      Name = name;
      Arguments = arguments;
    }

    /// <summary>The id, which its result repeats; see
    /// Message.ToolResult.</summary>
    public string Id { get; }

    /// <summary>The name of the tool.</summary>
    public string Name { get; }

    /// <summary>The arguments, a JSON object.</summary>
    public string Arguments { get; }
  }
}
