using System;

namespace Runcible {
  /// <summary>How the rows of the tokens of a text become one.</summary>
  public enum Pooling {
    /// <summary>As the model's file says.</summary>
    Auto,
    /// <summary>Their mean.</summary>
    Mean,
    /// <summary>That of the first token, such as [CLS].</summary>
    First,
    /// <summary>That of the last token.</summary>
    Last
  }

  /// <summary>What making embeddings and scores have in common.</summary>
  public abstract class RowOptions {
    /// <summary>Whether to take the beginning of what is too long.</summary>
    public bool Truncate { get; set; }
    /// <summary>Put before each text; or what a model that generates text is
    /// asked for a score, with {query} and {document}.</summary>
    public string Prompt { get; set; }
    /// <summary>Higher is served earlier.</summary>
    public int Priority { get; set; }
    /// <summary>When it ends at the latest; null: never.</summary>
    public TimeSpan? Deadline { get; set; }

    internal long DeadlineMilliseconds => Deadline == null
        ? 0 : Limits.Milliseconds(Deadline.Value, "Deadline");
  }

  /// <summary>How texts become rows.</summary>
  public sealed class EmbedOptions : RowOptions {
    /// <summary>How the rows of the tokens become one.</summary>
    public Pooling Pooling { get; set; }
    /// <summary>Whether rows have the length 1; null: as the file
    /// says.</summary>
    public bool? Normalize { get; set; }
    /// <summary>The first so many numbers of each row; 0: all.</summary>
    public long Dimensions { get; set; }
    /// <summary>"query" or "document", of the prompts of the model.</summary>
    public string PromptName { get; set; }
  }

  /// <summary>How documents are scored.</summary>
  public sealed class RerankOptions : RowOptions {
    /// <summary>Whether to give what the model does, a logit.</summary>
    public bool RawScores { get; set; }
  }
}
