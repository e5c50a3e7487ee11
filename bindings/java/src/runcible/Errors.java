package runcible;

import static java.util.Map.entry;

import java.time.Duration;
import java.util.Map;
import java.util.function.BiFunction;

/** Makes the exceptions of statuses. */
final class Errors {
  private static final
      Map<Integer, BiFunction<String, Report, RuntimeException>> CLASSES =
          Map.ofEntries(
              // :api: entries

  private Errors() {}

  /**
   * Called by the wrapper; `retryAfter` is a number of milliseconds, negative
   * if it is not known.
   */
  static RuntimeException ofStatus(int status, byte[] text, long retryAfter) {
    String message = Text.decode(text);
    return retryAfter < 0
        ? of(status, message, null)
        : new RuncibleException.Quota(
            message, null, Duration.ofMillis(retryAfter));
  }

  /**
   * Makes the exception of a status; the report is null without a generation.
   */
  static RuntimeException of(int status, String message, Report report) {
    var known = CLASSES.get(status);
    return known == null
        ? new RuncibleException.Other(status, message, report)
        : known.apply(message, report);
  }
}
