using System;

namespace Runcible {
  /// <summary>The ways to combine the rows of the tokens of a text into
  /// one.</summary>
  public enum Pooling {
    /// <summary>The way that the model's file names.</summary>
    Auto,
    /// <summary>The mean of the rows.</summary>
    Mean,
    /// <summary>The row of the first token, such as [CLS].</summary>
    First,
    /// <summary>The row of the last token.</summary>
    Last
  }

  /// <summary>The common options of embeddings and scores.</summary>
  public abstract class RowOptions {
    /// <summary>Whether to truncate texts that are too long.</summary>
    public bool Truncate { get; set; }
    /// <summary>Text to put before each text; or the question to a model that
    /// generates text, for a score, with {query} and {document}.</summary>
    public string Prompt { get; set; }
    /// <summary>Requests of a higher priority are served earlier.</summary>
    public int Priority { get; set; }
    /// <summary>The time after which the request ends at the latest; null:
    /// none.</summary>
    public TimeSpan? Deadline { get; set; }

    internal long DeadlineMilliseconds => Deadline == null
        ? 0 : Limits.Milliseconds(Deadline.Value, "Deadline");
  }

  /// <summary>The options of embeddings.</summary>
  public sealed class EmbedOptions : RowOptions {
    /// <summary>How to combine the rows of the tokens into one.</summary>
    public Pooling Pooling { get; set; }
    /// <summary>Whether to scale rows to the length 1; null: the value in the
    /// model's file.</summary>
    public bool? Normalize { get; set; }
    /// <summary>How many numbers of each row to keep, from the first on; 0:
    /// all.</summary>
    public long Dimensions { get; set; }
    /// <summary>Which prompt of the model to use: "query" or
    /// "document".</summary>
    public string PromptName { get; set; }
  }

  /// <summary>The options of scores.</summary>
  public sealed class RerankOptions : RowOptions {
    /// <summary>Whether to return the output of the model, a logit, as it
    /// is.</summary>
    public bool RawScores { get; set; }
  }
}
