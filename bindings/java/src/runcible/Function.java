package runcible;

/** {@rc rc_function} */
public enum Function {
  /** x itself. */
  NONE(Native.FUNCTION_NONE),
  /** x, or 0 where x is below. */
  RELU(Native.FUNCTION_RELU),
  /** 1 / (1 + exp(-x)). */
  SIGMOID(Native.FUNCTION_SIGMOID),
  TANH(Native.FUNCTION_TANH),
  /** x / (1 + exp(-x)). */
  SILU(Native.FUNCTION_SILU),
  /** 0.5 x (1 + erf(x / sqrt(2))). */
  GELU(Native.FUNCTION_GELU),
  /** 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))). */
  GELU_TANH(Native.FUNCTION_GELU_TANH),
  /** x / (1 + exp(-1.702 x)). */
  GELU_QUICK(Native.FUNCTION_GELU_QUICK);

  private final int number;

  Function(int number) {
    this.number = number;
  }

  int number() {
    return number;
  }
}
