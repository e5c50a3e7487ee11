using System.Collections.Generic;

namespace Runcible {
  /// <summary>What an answer consists of: a Piece of text, Reasoning or a
  /// ToolCall.</summary>
  public abstract class Part {
    internal Part() {
    }
  }

  /// <summary>Text of what the model thinks before it answers.</summary>
  public sealed class Reasoning : Part {
    internal Reasoning(Piece piece) {
      Text = piece.Text;
      Tokens = piece.Tokens;
    }

    /// <summary>The text, possibly empty.</summary>
    public string Text { get; }

    /// <summary>The tokens generated since the last part.</summary>
    public IReadOnlyList<int> Tokens { get; }

    /// <summary>The text.</summary>
    public override string ToString() => Text;
  }

  /// <summary>A call of a tool, as a whole.</summary>
  public sealed class ToolCall : Part {
    internal ToolCall(string id, string name, string arguments) {
      Id = id;
      Name = name;
      Arguments = arguments;
    }

    /// <summary>Which its result names; see Message.ToolResult.</summary>
    public string Id { get; }

    /// <summary>The name of the tool.</summary>
    public string Name { get; }

    /// <summary>A JSON object.</summary>
    public string Arguments { get; }
  }
}
