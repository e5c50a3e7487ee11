package runcible;

import java.time.Duration;

/**
 * Options of {@link Model#embed}. The default of each is the value in the
 * model's file.
 */
public final class EmbedOptions {
  /** The ways to combine the rows of the tokens of a text into one. */
  public enum Pooling { AUTO, MEAN, FIRST, LAST }

  int pooling;
  int normalize = -1;
  long dimensions;
  byte[] promptName;
  int truncate;
  byte[] prompt;
  int priority;
  long deadline;

  /** Makes options with nothing set. */
  public EmbedOptions() {}

  /** How to combine the rows of the tokens into one. */
  public EmbedOptions pooling(Pooling value) {
    pooling = value.ordinal();
    return this;
  }

  /** Whether to scale rows to the length 1. */
  public EmbedOptions normalize(boolean value) {
    normalize = value ? 1 : 0;
    return this;
  }

  /** How many numbers of each row to keep, from the first on. */
  public EmbedOptions dimensions(long value) {
    dimensions = value;
    return this;
  }

  /** Text to put before each text. */
  public EmbedOptions prompt(String value) {
    prompt = Text.name(value);
    return this;
  }

  /** Which prompt of the model to use: "query" or "document". */
  public EmbedOptions promptName(String value) {
    promptName = Text.name(value);
    return this;
  }

  /** Whether to truncate texts that are too long. */
  public EmbedOptions truncate(boolean value) {
    truncate = value ? 1 : 0;
    return this;
  }

  /** Requests of a higher priority are served earlier. */
  public EmbedOptions priority(int value) {
    priority = value;
    return this;
  }

  /** The time after which the request ends at the latest. */
  public EmbedOptions deadline(Duration value) {
    deadline = Limits.milliseconds(value, "deadline");
    return this;
  }
}
