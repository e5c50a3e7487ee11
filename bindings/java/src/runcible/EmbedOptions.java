package runcible;

import java.time.Duration;

/** How texts become rows; see {@link Model#embed}. What is not set is as the model's file says. */
public final class EmbedOptions {
  /** How the rows of the tokens of a text become one. */
  public enum Pooling { AUTO, MEAN, FIRST, LAST }

  int pooling;
  int normalize = -1;
  long dimensions;
  byte[] promptName;
  int truncate;
  byte[] prompt;
  int priority;
  long deadline;

  /** Nothing is set. */
  public EmbedOptions() {}

  /** How the rows of the tokens become one. */
  public EmbedOptions pooling(Pooling value) {
    pooling = value.ordinal();
    return this;
  }

  /** Whether rows have the length 1. */
  public EmbedOptions normalize(boolean value) {
    normalize = value ? 1 : 0;
    return this;
  }

  /** The first so many numbers of each row. */
  public EmbedOptions dimensions(long value) {
    dimensions = value;
    return this;
  }

  /** Put before each text. */
  public EmbedOptions prompt(String value) {
    prompt = Text.name(value);
    return this;
  }

  /** "query" or "document", of the prompts of the model. */
  public EmbedOptions promptName(String value) {
    promptName = Text.name(value);
    return this;
  }

  /** Whether to take the beginning of what is too long. */
  public EmbedOptions truncate(boolean value) {
    truncate = value ? 1 : 0;
    return this;
  }

  /** Higher is served earlier. */
  public EmbedOptions priority(int value) {
    priority = value;
    return this;
  }

  /** When it ends at the latest. */
  public EmbedOptions deadline(Duration value) {
    deadline = Limits.milliseconds(value, "deadline");
    return this;
  }
}
