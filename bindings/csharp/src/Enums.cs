using Runcible.Native;

namespace Runcible {
  /// <summary>{@rc rc_dtype}</summary>
  public enum Dtype {
    F32 = native.DTYPE_F32,
    F16 = native.DTYPE_F16,
    Q4_0 = native.DTYPE_Q4_0,
    Q4_1 = native.DTYPE_Q4_1,
    Q5_0 = native.DTYPE_Q5_0,
    Q5_1 = native.DTYPE_Q5_1,
    Q8_0 = native.DTYPE_Q8_0,
    Q8_1 = native.DTYPE_Q8_1,
    Q2_K = native.DTYPE_Q2_K,
    Q3_K = native.DTYPE_Q3_K,
    Q4_K = native.DTYPE_Q4_K,
    Q5_K = native.DTYPE_Q5_K,
    Q6_K = native.DTYPE_Q6_K,
    Q8_K = native.DTYPE_Q8_K,
    IQ2_XXS = native.DTYPE_IQ2_XXS,
    IQ2_XS = native.DTYPE_IQ2_XS,
    IQ3_XXS = native.DTYPE_IQ3_XXS,
    IQ1_S = native.DTYPE_IQ1_S,
    IQ4_NL = native.DTYPE_IQ4_NL,
    IQ3_S = native.DTYPE_IQ3_S,
    IQ2_S = native.DTYPE_IQ2_S,
    IQ4_XS = native.DTYPE_IQ4_XS,
    I8 = native.DTYPE_I8,
    I16 = native.DTYPE_I16,
    I32 = native.DTYPE_I32,
    I64 = native.DTYPE_I64,
    F64 = native.DTYPE_F64,
    IQ1_M = native.DTYPE_IQ1_M,
    BF16 = native.DTYPE_BF16,
    TQ1_0 = native.DTYPE_TQ1_0,
    TQ2_0 = native.DTYPE_TQ2_0,
    MXFP4 = native.DTYPE_MXFP4,
    NVFP4 = native.DTYPE_NVFP4,
    Q1_0 = native.DTYPE_Q1_0
  }

  /// <summary>{@rc rc_end_reason}</summary>
  public enum EndReason {
    /// <summary>The model's end token or a stop token.</summary>
    Stop = native.END_STOP,
    /// <summary>MaxTokens were generated.</summary>
    Length = native.END_LENGTH,
    /// <summary>One of Stop.</summary>
    StopString = native.END_STOP_STRING,
    Cancelled = native.END_CANCELLED,
    Deadline = native.END_DEADLINE,
    /// <summary>The context is full: an end like Length if there was room for
    /// a token.</summary>
    Context = native.END_CONTEXT,
    Error = native.END_ERROR
  }

  /// <summary>What happens when the context of a session is full.</summary>
  public enum WhenFull {
    /// <summary>{@rc RC_FULL_ERROR}</summary>
    Error = native.FULL_ERROR,
    /// <summary>{@rc RC_FULL_SHIFT}</summary>
    Shift = native.FULL_SHIFT
  }

  /// <summary>{@rc rc_device_kind}</summary>
  public enum DeviceKind {
    Other = native.DEVICE_OTHER,
    Cpu = native.DEVICE_CPU,
    GpuDiscrete = native.DEVICE_GPU_DISCRETE,
    GpuIntegrated = native.DEVICE_GPU_INTEGRATED,
    Accelerator = native.DEVICE_ACCELERATOR,
    Software = native.DEVICE_SOFTWARE
  }

  /// <summary>{@rc rc_function}</summary>
  public enum Function {
    None = native.FUNCTION_NONE,
    Relu = native.FUNCTION_RELU,
    Sigmoid = native.FUNCTION_SIGMOID,
    Tanh = native.FUNCTION_TANH,
    Silu = native.FUNCTION_SILU,
    Gelu = native.FUNCTION_GELU,
    GeluTanh = native.FUNCTION_GELU_TANH,
    GeluQuick = native.FUNCTION_GELU_QUICK
  }

  /// <summary>{@rc rc_rope_style}</summary>
  public enum RopeStyle {
    /// <summary>2i with 2i + 1.</summary>
    Adjacent = native.ROPE_ADJACENT,
    /// <summary>i with i + pairs.</summary>
    Halves = native.ROPE_HALVES
  }
}
