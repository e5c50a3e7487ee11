package runcible;

import java.time.Duration;

/** How documents are scored; see {@link Model#rerank}. What is not set is as the model's file says. */
public final class RerankOptions {
  int rawScores;
  int truncate;
  byte[] prompt;
  int priority;
  long deadline;

  /** Nothing is set. */
  public RerankOptions() {}

  /** Whether to give what the model does, a logit. */
  public RerankOptions rawScores(boolean value) {
    rawScores = value ? 1 : 0;
    return this;
  }

  /** What a model that generates text is asked, with {query} and {document}. */
  public RerankOptions prompt(String value) {
    prompt = Text.name(value);
    return this;
  }

  /** Whether to take the beginning of what is too long. */
  public RerankOptions truncate(boolean value) {
    truncate = value ? 1 : 0;
    return this;
  }

  /** Higher is served earlier. */
  public RerankOptions priority(int value) {
    priority = value;
    return this;
  }

  /** When it ends at the latest. */
  public RerankOptions deadline(Duration value) {
    deadline = Limits.milliseconds(value, "deadline");
    return this;
  }
}
