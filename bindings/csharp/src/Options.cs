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

    /// At least 1, as 0 means none to the library.
    internal static long Milliseconds(TimeSpan time, string name) {
      if (time < TimeSpan.Zero) {
        throw new ArgumentOutOfRangeException(
            name, time, name + " must not be negative");
      }
      return Math.Max(1, (long)time.TotalMilliseconds);
    }

    internal static TimeSpan Microseconds(long count) =>
        TimeSpan.FromTicks(count * (TimeSpan.TicksPerMillisecond / 1000));
  }

  public sealed partial class ModelOptions {
    /// <summary>Told the fraction done, 0 to 1, on the thread that loads. What
    /// it throws ends the load and is thrown by it.</summary>
    public Action<double> Progress { get; set; }
  }

  /// <summary>What Tensor.Random makes; normal unless Low or High is set. What
  /// is null has the default of the library.</summary>
  public sealed class RandomOptions {
    /// <summary>{@rc rc_random_options.seed}</summary>
    public ulong? Seed { get; set; }

    /// <summary>Of a normal distribution.</summary>
    public double? Mean { get; set; }

    /// <summary>Of a normal distribution; at least 0.</summary>
    public double? Deviation { get; set; }

    /// <summary>Of a uniform distribution: at least this.</summary>
    public double? Low { get; set; }

    /// <summary>Of a uniform distribution: below this.</summary>
    public double? High { get; set; }

    internal random_options Make() {
      var made = new random_options();
      if (Seed.HasValue) {
        made.seed = Seed.Value;
      }
      if (Mean.HasValue) {
        made.mean = (float)Mean.Value;
      }
      if (Deviation.HasValue) {
        made.deviation = (float)Deviation.Value;
      }
      if (Low.HasValue) {
        made.low = (float)Low.Value;
      }
      if (High.HasValue) {
        made.high = (float)High.Value;
      }
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
