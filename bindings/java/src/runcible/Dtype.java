package runcible;

/** {@rc rc_dtype} */
public enum Dtype {
  F32(Native.DTYPE_F32),
  F16(Native.DTYPE_F16),
  Q4_0(Native.DTYPE_Q4_0),
  Q4_1(Native.DTYPE_Q4_1),
  Q5_0(Native.DTYPE_Q5_0),
  Q5_1(Native.DTYPE_Q5_1),
  Q8_0(Native.DTYPE_Q8_0),
  Q8_1(Native.DTYPE_Q8_1),
  Q2_K(Native.DTYPE_Q2_K),
  Q3_K(Native.DTYPE_Q3_K),
  Q4_K(Native.DTYPE_Q4_K),
  Q5_K(Native.DTYPE_Q5_K),
  Q6_K(Native.DTYPE_Q6_K),
  Q8_K(Native.DTYPE_Q8_K),
  IQ2_XXS(Native.DTYPE_IQ2_XXS),
  IQ2_XS(Native.DTYPE_IQ2_XS),
  IQ3_XXS(Native.DTYPE_IQ3_XXS),
  IQ1_S(Native.DTYPE_IQ1_S),
  IQ4_NL(Native.DTYPE_IQ4_NL),
  IQ3_S(Native.DTYPE_IQ3_S),
  IQ2_S(Native.DTYPE_IQ2_S),
  IQ4_XS(Native.DTYPE_IQ4_XS),
  I8(Native.DTYPE_I8),
  I16(Native.DTYPE_I16),
  I32(Native.DTYPE_I32),
  I64(Native.DTYPE_I64),
  F64(Native.DTYPE_F64),
  IQ1_M(Native.DTYPE_IQ1_M),
  BF16(Native.DTYPE_BF16),
  TQ1_0(Native.DTYPE_TQ1_0),
  TQ2_0(Native.DTYPE_TQ2_0),
  MXFP4(Native.DTYPE_MXFP4),
  NVFP4(Native.DTYPE_NVFP4),
  Q1_0(Native.DTYPE_Q1_0);

  private final int number;

  Dtype(int number) {
    this.number = number;
  }

  int number() {
    return number;
  }

  static Dtype of(int number) {
    for (Dtype dtype : values()) {
      if (dtype.number == number) {
        return dtype;
      }
    }
    throw new RuncibleException.Unsupported(
        "element type " + number + " is not known to this package", null);
  }
}
