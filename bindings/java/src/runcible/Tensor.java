package runcible;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * {@rc tensor.h}
 */
public final class Tensor extends Handle {
  private static final int ALL = Integer.MIN_VALUE;

  private final tensor handle;

  private Tensor(Object address) {
    this(new tensor((Long) address));
  }

  private Tensor(tensor handle) {
    super(handle);
    this.handle = handle;
  }

  /** A tensor of F32 numbers, row-major, which are copied. */
  public static Tensor of(Backend backend, float[] numbers, long... shape) {
    ByteBuffer bytes = room(numbers.length, Float.BYTES);
    bytes.asFloatBuffer().put(numbers);
    return of(backend, Dtype.F32, bytes.array(), shape);
  }

  /** A tensor of I32 numbers, row-major, which are copied. */
  public static Tensor of(Backend backend, int[] numbers, long... shape) {
    ByteBuffer bytes = room(numbers.length, Integer.BYTES);
    bytes.asIntBuffer().put(numbers);
    return of(backend, Dtype.I32, bytes.array(), shape);
  }

  /** {@rc rc_tensor_from_data} */
  public static Tensor of(
      Backend backend, Dtype dtype, byte[] data, long... shape) {
    return new Tensor(Native.tensor_from_data(
        backend.handle, dtype.number(), shape, data));
  }

  /** {@rc rc_tensor_create} */
  public static Tensor zeros(Backend backend, Dtype dtype, long... shape) {
    return new Tensor(
        Native.tensor_create(backend.handle, dtype.number(), shape));
  }

  /** {@rc rc_tensor_ones} */
  public static Tensor ones(Backend backend, Dtype dtype, long... shape) {
    return new Tensor(
        Native.tensor_ones(backend.handle, dtype.number(), shape));
  }

  /** {@rc rc_tensor_random} */
  public static Tensor random(
      Backend backend, RandomOptions options, long... shape) {
    try (random_options made = options.make()) {
      return new Tensor(Native.tensor_random(backend.handle, shape, made));
    }
  }

  /** The type of the elements. */
  public Dtype dtype() {
    return Dtype.of(((Long) Native.tensor_dtype(handle)).intValue());
  }

  /** The dimensions, slowest first. */
  public long[] shape() {
    return (long[]) Native.tensor_shape(handle);
  }

  /** The number of elements. */
  public long size() {
    return (Long) ((Object[]) Native.tensor_size(handle))[0];
  }

  /** The bytes that the numbers take in their type. */
  public long byteSize() {
    return (Long) ((Object[]) Native.tensor_size(handle))[1];
  }

  /** The numbers, row-major and dense in the layout of the type. */
  public byte[] read() {
    byte[] made = room(byteSize(), 1).array();
    Native.tensor_read(handle, made);
    return made;
  }

  /** The numbers as F32, whatever their type; row-major. */
  public float[] toFloats() {
    if (dtype() != Dtype.F32) {
      try (Tensor decoded = dequantize()) {
        return decoded.toFloats();
      }
    }
    ByteBuffer bytes = ByteBuffer.wrap(read()).order(ByteOrder.nativeOrder());
    float[] made = new float[bytes.remaining() / Float.BYTES];
    bytes.asFloatBuffer().get(made);
    return made;
  }

  // Views.

  /** {@rc rc_tensor_reshape} */
  public Tensor reshape(long... shape) {
    return new Tensor(Native.tensor_reshape(handle, shape));
  }

  /** {@rc rc_tensor_slice} */
  public Tensor slice(int dimension, long begin, long end, long step) {
    return new Tensor(
        Native.tensor_slice(handle, dimension, begin, end, step));
  }

  /** {@rc rc_tensor_transpose} */
  public Tensor transpose(int dimension, int other) {
    return new Tensor(Native.tensor_transpose(handle, dimension, other));
  }

  // Ops. What may be null is said; other operands are needed.

  /** {@rc rc_op_matmul} */
  public Tensor matmul(Tensor b) {
    return new Tensor(Native.op_matmul(handle, b.handle));
  }

  /** {@rc rc_op_matmul_transposed} */
  public Tensor matmulTransposed(Tensor b) {
    return new Tensor(Native.op_matmul_transposed(handle, b.handle));
  }

  /** {@rc rc_op_matmul_quantized} */
  public Tensor matmulQuantized(Tensor weight) {
    return new Tensor(Native.op_matmul_quantized(handle, weight.handle));
  }

  /** {@rc rc_op_fused_linear} */
  public Tensor fusedLinear(
      Tensor weight, Tensor bias, Function function) {
    return new Tensor(Native.op_fused_linear(
        handle, weight.handle, optional(bias), function.number()));
  }

  /** a + b, element by element, broadcast. */
  public Tensor add(Tensor b) {
    return new Tensor(Native.op_add(handle, b.handle));
  }

  /** a * b, element by element, broadcast. */
  public Tensor mul(Tensor b) {
    return new Tensor(Native.op_mul(handle, b.handle));
  }

  /** x, or 0 where x is below, of each element. */
  public Tensor relu() {
    return new Tensor(Native.op_relu(handle));
  }

  /** 1 / (1 + exp(-x)) of each element. */
  public Tensor sigmoid() {
    return new Tensor(Native.op_sigmoid(handle));
  }

  /** x / (1 + exp(-x)) of each element. */
  public Tensor silu() {
    return new Tensor(Native.op_silu(handle));
  }

  /** 0.5 x (1 + erf(x / sqrt(2))) of each element. */
  public Tensor gelu() {
    return new Tensor(Native.op_gelu(handle));
  }

  /** 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) of each element. */
  public Tensor geluTanh() {
    return new Tensor(Native.op_gelu_tanh(handle));
  }

  /** x / (1 + exp(-1.702 x)) of each element. */
  public Tensor geluQuick() {
    return new Tensor(Native.op_gelu_quick(handle));
  }

  /** The hyperbolic tangent of each element. */
  public Tensor tanh() {
    return new Tensor(Native.op_tanh(handle));
  }

  /** {@rc rc_op_softmax} */
  public Tensor softmax(int dimension) {
    return new Tensor(Native.op_softmax(handle, dimension));
  }

  /** {@rc rc_op_rms_norm} */
  public Tensor rmsNorm(Tensor weight, double epsilon) {
    return new Tensor(Native.op_rms_norm(
        handle, optional(weight), (float) epsilon));
  }

  /** {@rc rc_op_layer_norm} */
  public Tensor layerNorm(Tensor weight, Tensor bias, double epsilon) {
    return new Tensor(Native.op_layer_norm(
        handle, optional(weight), optional(bias), (float) epsilon));
  }

  /** {@rc rc_op_rope} */
  public Tensor rope(
      Tensor positions, Tensor frequencies, RopeOptions options) {
    try (rope_options made = options.make()) {
      return new Tensor(Native.op_rope(
          handle, positions.handle, optional(frequencies), made));
    }
  }

  /** {@rc rc_op_attention} */
  public Tensor attention(Tensor k, Tensor v, AttentionOptions options) {
    try (attention_options made = options.make()) {
      return new Tensor(
          Native.op_attention(handle, k.handle, v.handle, made));
    }
  }

  /** The sum of all elements; shape [1]. */
  public Tensor sum() {
    return new Tensor(Native.op_reduce_sum(handle, ALL, 0));
  }

  /**
   * The sum over one dimension, which the
   * result lacks or, with `keep`, has with size 1.
   */
  public Tensor sum(int dimension, boolean keep) {
    return new Tensor(Native.op_reduce_sum(handle, dimension, keep ? 1 : 0));
  }

  /** The mean of all elements; shape [1]. */
  public Tensor mean() {
    return new Tensor(Native.op_reduce_mean(handle, ALL, 0));
  }

  /**
   * The mean over one dimension, which the
   * result lacks or, with `keep`, has with size 1.
   */
  public Tensor mean(int dimension, boolean keep) {
    return new Tensor(Native.op_reduce_mean(handle, dimension, keep ? 1 : 0));
  }

  /** The maximum of all elements; shape [1]. */
  public Tensor max() {
    return new Tensor(Native.op_reduce_max(handle, ALL, 0));
  }

  /**
   * The maximum over one dimension, which the
   * result lacks or, with `keep`, has with size 1.
   */
  public Tensor max(int dimension, boolean keep) {
    return new Tensor(Native.op_reduce_max(handle, dimension, keep ? 1 : 0));
  }

  /** The index of the largest, I32, of all elements; shape [1]. */
  public Tensor argmax() {
    return new Tensor(Native.op_argmax(handle, ALL, 0));
  }

  /**
   * The index of the largest, I32, over one dimension, which the
   * result lacks or, with `keep`, has with size 1.
   */
  public Tensor argmax(int dimension, boolean keep) {
    return new Tensor(Native.op_argmax(handle, dimension, keep ? 1 : 0));
  }

  /** {@rc rc_op_conv2d} */
  public Tensor conv2d(Tensor weight, Tensor bias, Conv2dOptions options) {
    try (conv2d_options made = options.make()) {
      return new Tensor(
          Native.op_conv2d(handle, weight.handle, optional(bias), made));
    }
  }

  /** {@rc rc_op_gather_rows} */
  public Tensor gatherRows(Tensor ids) {
    return new Tensor(Native.op_gather_rows(handle, ids.handle));
  }

  /** {@rc rc_op_quantize} */
  public Tensor quantize(Dtype dtype) {
    return new Tensor(Native.op_quantize(handle, dtype.number()));
  }

  /** {@rc rc_op_dequantize} */
  public Tensor dequantize() {
    return new Tensor(Native.op_dequantize(handle));
  }

  private static tensor optional(Tensor given) {
    return given == null ? null : given.handle;
  }

  private static ByteBuffer room(long count, int size) {
    if (count > Integer.MAX_VALUE / size) {
      throw new IllegalArgumentException(
          count + " elements of " + size
              + " bytes are more than an array of Java holds");
    }
    return ByteBuffer.allocate((int) count * size)
        .order(ByteOrder.nativeOrder());
  }
}
