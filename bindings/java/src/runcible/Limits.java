package runcible;

import java.time.Duration;

/** Checks numbers that C would misread, and converts times. */
final class Limits {
  private Limits() {}

  static long notNegative(long value, String name) {
    if (value < 0) {
      throw new IllegalArgumentException(
          name + " must be at least 0, not " + value);
    }
    return value;
  }

  /** Rounds up, to at least 1, as 0 means no limit to the library. */
  static long milliseconds(Duration time, String name) {
    if (time.isNegative()) {
      throw new IllegalArgumentException(
          name + " must not be negative, as " + time + " is");
    }
    try {
      return Math.max(1, time.plusNanos(999_999).toMillis());
    } catch (ArithmeticException beyond) {
      throw new IllegalArgumentException(
          name + " of " + time + " is beyond what milliseconds count", beyond);
    }
  }

  /** The same as an int; longer times become the largest int. */
  static int intMilliseconds(Duration time, String name) {
    return (int) Math.min(milliseconds(time, name), Integer.MAX_VALUE);
  }

  static Duration microseconds(long count) {
    return Duration.ofNanos(count * 1000);
  }
}
