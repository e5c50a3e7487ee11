using System;
using Runcible.Native;

namespace Runcible {
  /// Checks numbers that C would misread, and converts times.
  internal static class Limits {
    internal static ulong NotNegative(long value, string name) {
      if (value < 0) {
        throw new ArgumentOutOfRangeException(
            name, value, name + " must be at least 0");
      }
      return (ulong)value;
    }

    /// Rounds up, to at least 1, as 0 means no limit to the library.
    internal static long Milliseconds(TimeSpan time, string name) {
      if (time < TimeSpan.Zero) {
        throw new ArgumentOutOfRangeException(
            name, time, name + " must not be negative");
      }
      long begun = time.Ticks % TimeSpan.TicksPerMillisecond == 0 ? 0 : 1;
      return Math.Max(1, time.Ticks / TimeSpan.TicksPerMillisecond + begun);
    }

    /// The same as an int; longer times become the largest int.
    internal static int IntMilliseconds(TimeSpan time, string name) =>
        (int)Math.Min(Milliseconds(time, name), int.MaxValue);

    internal static TimeSpan Microseconds(long count) =>
        TimeSpan.FromTicks(count * (TimeSpan.TicksPerMillisecond / 1000));
  }

  public sealed partial class BackendOptions {
    /// <summary>{@rc rc_backend_options.tenant}</summary>
    public Tenant Tenant { get; set; }

    /// <summary>Receives the fraction done, 0 to 1, on the thread that opens.
    /// An exception that it throws ends the opening and is thrown by
    /// it.</summary>
    public Action<double> Progress { get; set; }
  }

  public sealed partial class BackendSwitchOptions {
    /// <summary>Receives the fraction done, 0 to 1, on the thread that
    /// switches. An exception that it throws ends the switch and is thrown by
    /// it.</summary>
    public Action<double> Progress { get; set; }
  }

  public sealed partial class ModelOptions {
    /// <summary>Receives the fraction done, 0 to 1, on the thread that loads.
    /// An exception that it throws ends the load and is thrown by it.</summary>
    public Action<double> Progress { get; set; }
  }

  public sealed partial class RandomOptions {
    /// Makes options: normal, or uniform if Low or High is set.
    internal random_options Make() {
      var made = new random_options();
      Set(made);
      if (Low.HasValue || High.HasValue) {
        made.distribution = native.RANDOM_UNIFORM;
      }
      return made;
    }
  }

  /// <summary>Two numbers for a picture: down and across.</summary>
  public struct Pair {
    /// <summary>Makes a pair of the numbers down and across.</summary>
    public Pair(int down, int across) {
      Down = down;
      Across = across;
    }

    /// <summary>The number from row to row.</summary>
    public int Down { get; }

    /// <summary>The number within a row.</summary>
    public int Across { get; }
  }
}
