package runcible;

import java.time.Duration;

/**
 * Options of {@link Model#rerank}. The default of each is the value in the
 * model's file.
 */
public final class RerankOptions {
  int rawScores;
  int truncate;
  byte[] prompt;
  int priority;
  long deadline;

  /** Makes options with nothing set. */
  public RerankOptions() {}

  /** Whether to return the output of the model, a logit, as it is. */
  public RerankOptions rawScores(boolean value) {
    rawScores = value ? 1 : 0;
    return this;
  }

  /**
   * The question to a model that generates text, with {query} and {document}.
   */
  public RerankOptions prompt(String value) {
    prompt = Text.name(value);
    return this;
  }

  /** Whether to truncate texts that are too long. */
  public RerankOptions truncate(boolean value) {
    truncate = value ? 1 : 0;
    return this;
  }

  /** Requests of a higher priority are served earlier. */
  public RerankOptions priority(int value) {
    priority = value;
    return this;
  }

  /** The time after which the request ends at the latest. */
  public RerankOptions deadline(Duration value) {
    deadline = Limits.milliseconds(value, "deadline");
    return this;
  }
}
