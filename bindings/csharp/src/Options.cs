using System;
using Runcible.Native;

namespace Runcible {
  /// Checks of what C would take for another number.
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
  }

  /// <summary>How to open a Backend. What is null has the default of the
  /// library.</summary>
  public sealed class BackendOptions {
    /// <summary>{@rc rc_backend_options.required_memory}</summary>
    public long? RequiredMemory { get; set; }

    /// <summary>{@rc rc_backend_options.memory_limit}</summary>
    public long? MemoryLimit { get; set; }

    /// <summary>{@rc rc_backend_options.threads}</summary>
    public int? Threads { get; set; }

    /// <summary>{@rc rc_backend_options.max_requests}</summary>
    public int? MaxRequests { get; set; }

    /// <summary>{@rc rc_backend_options.timeout_ms}</summary>
    public TimeSpan? Timeout { get; set; }

    /// <summary>{@rc rc_backend_options.strict}</summary>
    public bool? Strict { get; set; }

    /// <summary>{@rc rc_backend_options.profile}</summary>
    public bool? Profile { get; set; }

    internal backend_options Make() {
      var made = new backend_options();
      if (RequiredMemory.HasValue) {
        made.required_memory =
            Limits.NotNegative(RequiredMemory.Value, nameof(RequiredMemory));
      }
      if (MemoryLimit.HasValue) {
        made.memory_limit =
            Limits.NotNegative(MemoryLimit.Value, nameof(MemoryLimit));
      }
      if (Threads.HasValue) {
        made.threads = Threads.Value;
      }
      if (MaxRequests.HasValue) {
        made.max_requests = MaxRequests.Value;
      }
      if (Timeout.HasValue) {
        made.timeout_ms = Limits.Milliseconds(Timeout.Value, nameof(Timeout));
      }
      if (Strict.HasValue) {
        made.strict = Strict.Value ? 1 : 0;
      }
      if (Profile.HasValue) {
        made.profile = Profile.Value ? 1 : 0;
      }
      return made;
    }
  }

  /// <summary>How to load a Model. What is null has the default of the
  /// library.</summary>
  public sealed class ModelOptions {
    /// <summary>{@rc rc_model_options.context_length}</summary>
    public long? ContextLength { get; set; }

    /// <summary>{@rc rc_model_options.cache_tokens}</summary>
    public long? CacheTokens { get; set; }

    /// <summary>{@rc rc_model_options.cache_dtype}</summary>
    public Dtype? CacheDtype { get; set; }

    /// <summary>{@rc rc_model_options.max_rows}</summary>
    public int? MaxRows { get; set; }

    /// <summary>{@rc rc_model_options.prefix_cache}</summary>
    public bool? PrefixCache { get; set; }

    /// <summary>{@rc rc_model_options.keep_mapped}</summary>
    public bool? KeepMapped { get; set; }

    /// <summary>{@rc rc_model_options.guard_mapped}</summary>
    public bool? GuardMapped { get; set; }

    /// <summary>Told the fraction done, 0 to 1, on the thread that loads. What
    /// it throws ends the load and is thrown by it.</summary>
    public Action<double> Progress { get; set; }


    internal model_options Make() {
      var made = new model_options();
      if (ContextLength.HasValue) {
        made.context_length = ContextLength.Value;
      }
      if (CacheTokens.HasValue) {
        made.cache_tokens = CacheTokens.Value;
      }
      if (CacheDtype.HasValue) {
        made.cache_dtype = (int)CacheDtype.Value;
      }
      if (MaxRows.HasValue) {
        made.max_rows = MaxRows.Value;
      }
      if (PrefixCache.HasValue) {
        made.prefix_cache = PrefixCache.Value ? 1 : 0;
      }
      if (KeepMapped.HasValue) {
        made.keep_mapped = KeepMapped.Value ? 1 : 0;
      }
      if (GuardMapped.HasValue) {
        made.guard_mapped = GuardMapped.Value ? 1 : 0;
      }
      return made;
    }
  }

  /// <summary>How a Session begins. What is null has the default of the
  /// library.</summary>
  public sealed class SessionOptions {
    /// <summary>{@rc rc_session_options.context_length}</summary>
    public long? ContextLength { get; set; }

    /// <summary>What happens when the context is full; an error if
    /// null.</summary>
    public WhenFull? WhenFull { get; set; }

    /// <summary>{@rc rc_session_options.keep_tokens}</summary>
    public long? KeepTokens { get; set; }

    internal session_options Make() {
      var made = new session_options();
      if (ContextLength.HasValue) {
        made.context_length = ContextLength.Value;
      }
      if (WhenFull.HasValue) {
        made.when_full = (int)WhenFull.Value;
      }
      if (KeepTokens.HasValue) {
        made.keep_tokens = KeepTokens.Value;
      }
      return made;
    }
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

  /// <summary>How Tensor.Rope turns. What is null has the default of the
  /// library.</summary>
  public sealed class RopeOptions {
    /// <summary>How the elements of a head are paired.</summary>
    public RopeStyle? Style { get; set; }

    /// <summary>{@rc rc_rope_options.dimensions}</summary>
    public int? Dimensions { get; set; }

    /// <summary>{@rc rc_rope_options.theta}</summary>
    public double? Theta { get; set; }

    /// <summary>{@rc rc_rope_options.scale}</summary>
    public double? Scale { get; set; }

    internal rope_options Make() {
      var made = new rope_options();
      if (Style.HasValue) {
        made.style = (int)Style.Value;
      }
      if (Dimensions.HasValue) {
        made.dimensions = Dimensions.Value;
      }
      if (Theta.HasValue) {
        made.theta = (float)Theta.Value;
      }
      if (Scale.HasValue) {
        made.scale = (float)Scale.Value;
      }
      return made;
    }
  }

  /// <summary>How Tensor.Attention weighs. What is null has the default of the
  /// library.</summary>
  public sealed class AttentionOptions {
    /// <summary>{@rc rc_attention_options.scale}</summary>
    public double? Scale { get; set; }

    /// <summary>{@rc rc_attention_options.softcap}</summary>
    public double? Softcap { get; set; }

    /// <summary>{@rc rc_attention_options.causal}</summary>
    public bool? Causal { get; set; }

    internal attention_options Make() {
      var made = new attention_options();
      if (Scale.HasValue) {
        made.scale = (float)Scale.Value;
      }
      if (Softcap.HasValue) {
        made.softcap = (float)Softcap.Value;
      }
      if (Causal.HasValue) {
        made.causal = Causal.Value ? 1 : 0;
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

  /// <summary>How Tensor.Conv2d moves its window.</summary>
  public sealed class Conv2dOptions {
    /// <summary>At least 1.</summary>
    public Pair Stride { get; set; } = new Pair(1, 1);

    /// <summary>Zeros on each side.</summary>
    public Pair Padding { get; set; } = new Pair(0, 0);

    /// <summary>The distance between elements of the window; at least
    /// 1.</summary>
    public Pair Dilation { get; set; } = new Pair(1, 1);

    /// <summary>Each with its own channels and outputs.</summary>
    public int Groups { get; set; } = 1;

    internal conv2d_options Make() {
      var made = new conv2d_options();
      made.set_stride(Stride.Down, Stride.Across);
      made.set_padding(Padding.Down, Padding.Across);
      made.set_dilation(Dilation.Down, Dilation.Across);
      made.groups = Groups;
      return made;
    }
  }
}
