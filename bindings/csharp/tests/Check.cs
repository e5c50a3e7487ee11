using System;
using System.Collections.Generic;
using System.Linq;

/// The failure of a test.
class CheckFailed : Exception {
  public CheckFailed(string message) : base(message) {
  }
}

static class Check {
  public static void That(bool holds, object about = null) {
    if (!holds) {
      throw new CheckFailed("does not hold: " + about);
    }
  }

  public static void Equal<T>(T expected, T actual) {
    That(EqualityComparer<T>.Default.Equals(expected, actual),
         "expected " + expected + ", but was " + actual);
  }

  public static void Same<T>(IEnumerable<T> expected, IEnumerable<T> actual) {
    That(expected.SequenceEqual(actual),
         "expected " + string.Join(", ", expected) + ", but was "
             + string.Join(", ", actual));
  }

  public static void Near(double expected, double actual, double tolerance) {
    That(Math.Abs(expected - actual) <= tolerance,
         "expected " + expected + ", but was " + actual);
  }

  /// Returns the exception of `wrong`, which must be of exactly this class.
  public static T Throws<T>(Action wrong) where T : Exception {
    try {
      wrong();
    } catch (Exception thrown) {
      if (thrown is AggregateException) {
        thrown = thrown.InnerException;
      }
      if (thrown.GetType() == typeof(T)) {
        return (T)thrown;
      }
      throw new CheckFailed("expected " + typeof(T).Name + ", got " + thrown);
    }
    throw new CheckFailed("expected " + typeof(T).Name + ", got nothing");
  }
}
