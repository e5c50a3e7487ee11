using System;
using Runcible.Native;

namespace Runcible {
  /// Checks of what C would take for another number, and its times.
  internal static class Limits {
    internal static ulong NotNegative(long value, string name) {
      if (value < 0) {
        throw new ArgumentOutOfRangeException(
            name, value, name + " must be at least 0");
      }
      return (ulong)value;
    }

    /// Rounded up, and at least 1, as 0 means none to the library.
    internal static long Milliseconds(TimeSpan time, string name) {
      if (time < TimeSpan.Zero) {
        throw new ArgumentOutOfRangeException(
            name, time, name + " must not be negative");
      }
      long begun = time.Ticks % TimeSpan.TicksPerMillisecond == 0 ? 0 : 1;
      return Math.Max(1, time.Ticks / TimeSpan.TicksPerMillisecond + begun);
    }

    internal static TimeSpan Microseconds(long count) =>
        TimeSpan.FromTicks(count * (TimeSpan.TicksPerMillisecond / 1000));
  }

  public sealed partial class BackendOptions {
    /// <summary>Told the fraction done, 0 to 1, on the thread that opens. What
    /// it throws ends the opening and is thrown by it.</summary>
    public Action<double> Progress { get; set; }
  }

  public sealed partial class BackendSwitchOptions {
    /// <summary>Told the fraction done, 0 to 1, on the thread that switches. What
    /// it throws ends the switch and is thrown by it.</summary>
    public Action<double> Progress { get; set; }
  }

  public sealed partial class ModelOptions {
    /// <summary>Told the fraction done, 0 to 1, on the thread that loads. What
    /// it throws ends the load and is thrown by it.</summary>
    public Action<double> Progress { get; set; }
  }

  public sealed partial class RandomOptions {
    /// Normal unless Low or High is set.
    internal random_options Make() {
      var made = new random_options();
      Set(made);
      if (Low.HasValue || High.HasValue) {
        made.distribution = native.RANDOM_UNIFORM;
      }
      return made;
    }
  }

  /// <summary>Two numbers of a picture.</summary>
  public struct Pair {
    /// <summary>Down and across.</summary>
    public Pair(int down, int across) {
      Down = down;
      Across = across;
    }

    /// <summary>From row to row.</summary>
    public int Down { get; }

    /// <summary>Within a row.</summary>
    public int Across { get; }
  }
}
