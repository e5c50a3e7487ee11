package runcible;

import static java.util.Map.entry;

import java.util.Map;
import java.util.function.BiFunction;

/** Makes the exceptions of statuses. */
final class Errors {
  private static final
      Map<Integer, BiFunction<String, Report, RuntimeException>> CLASSES =
          Map.ofEntries(
              // :api: entries

  private Errors() {}

  /** Called by the wrapper. */
  static RuntimeException ofStatus(int status, byte[] text) {
    return of(status, Text.decode(text), null);
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
