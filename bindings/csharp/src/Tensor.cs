using System;
using Runcible.Native;

namespace Runcible {
  /// <summary>{@rc tensor.h}</summary>
  public sealed class Tensor : Handle {
    private const int All = int.MinValue;

    private readonly tensor handle;

    private Tensor(tensor handle) : base(handle) {
      this.handle = handle;
    }

    private static Tensor Of(IntPtr address) => new Tensor(new tensor(address));

    /// <summary>A tensor of F32 numbers, row-major, which are copied.</summary>
    public static Tensor From(
        Backend backend, float[] numbers, params long[] shape) =>
        From(backend, Dtype.F32, Raw(numbers, sizeof(float)), shape);

    /// <summary>A tensor of I32 numbers, row-major, which are copied.</summary>
    public static Tensor From(
        Backend backend, int[] numbers, params long[] shape) =>
        From(backend, Dtype.I32, Raw(numbers, sizeof(int)), shape);

    /// <summary>{@rc rc_tensor_from_data}</summary>
    public static Tensor From(
        Backend backend, Dtype dtype, byte[] data, params long[] shape) {
      native.tensor_from_data(
          backend.handle, (int)dtype, shape, shape.Length, data,
          (ulong)data.Length, out var made);
      return Of(made);
    }

    /// <summary>{@rc rc_tensor_create}</summary>
    public static Tensor Zeros(
        Backend backend, Dtype dtype, params long[] shape) {
      native.tensor_create(
          backend.handle, (int)dtype, shape, shape.Length, out var made);
      return Of(made);
    }

    /// <summary>{@rc rc_tensor_ones}</summary>
    public static Tensor Ones(
        Backend backend, Dtype dtype, params long[] shape) {
      native.tensor_ones(
          backend.handle, (int)dtype, shape, shape.Length, out var made);
      return Of(made);
    }

    /// <summary>{@rc rc_tensor_random}</summary>
    public static Tensor Random(
        Backend backend, RandomOptions options, params long[] shape) {
      using (random_options given = options.Make()) {
        native.tensor_random(
            backend.handle, shape, shape.Length, given, out var made);
        return Of(made);
      }
    }

    /// <summary>The type of the elements.</summary>
    public Dtype Dtype {
      get {
        native.tensor_dtype(handle, out int number);
        return (Dtype)number;
      }
    }

    /// <summary>The dimensions, slowest first.</summary>
    public long[] Shape {
      get {
        var shape = new long[native.TENSOR_MAX_RANK];
        native.tensor_shape(handle, shape, out int rank);
        Array.Resize(ref shape, rank);
        return shape;
      }
    }

    /// <summary>The number of elements.</summary>
    public long Size {
      get {
        native.tensor_size(handle, out long elements, out _);
        return elements;
      }
    }

    /// <summary>The bytes that the numbers take in their type.</summary>
    public long ByteSize {
      get {
        native.tensor_size(handle, out _, out ulong bytes);
        return (long)bytes;
      }
    }

    /// <summary>The numbers, row-major and dense in the layout of the
    /// type.</summary>
    public byte[] Read() {
      var made = new byte[ByteSize];
      native.tensor_read(handle, made, (ulong)made.Length);
      return made;
    }

    /// <summary>The numbers as F32, whatever their type; row-major.</summary>
    public float[] ToFloats() {
      if (Dtype != Dtype.F32) {
        using (Tensor decoded = Dequantize()) {
          return decoded.ToFloats();
        }
      }
      byte[] bytes = Read();
      var made = new float[bytes.Length / sizeof(float)];
      Buffer.BlockCopy(bytes, 0, made, 0, bytes.Length);
      return made;
    }

    // Views.

    /// <summary>{@rc rc_tensor_reshape}</summary>
    public Tensor Reshape(params long[] shape) {
      native.tensor_reshape(handle, shape, shape.Length, out var view);
      return Of(view);
    }

    /// <summary>{@rc rc_tensor_slice}</summary>
    public Tensor Slice(int dimension, long begin, long end, long step = 1) {
      native.tensor_slice(handle, dimension, begin, end, step, out var view);
      return Of(view);
    }

    /// <summary>{@rc rc_tensor_transpose}</summary>
    public Tensor Transpose(int dimension = -2, int other = -1) {
      native.tensor_transpose(handle, dimension, other, out var view);
      return Of(view);
    }

    // Ops. What may be null is null if it is left out.

    /// <summary>{@rc rc_op_matmul}</summary>
    public Tensor Matmul(Tensor b) {
      native.op_matmul(handle, b.handle, out var made);
      return Of(made);
    }

    /// <summary>{@rc rc_op_matmul_transposed}</summary>
    public Tensor MatmulTransposed(Tensor b) {
      native.op_matmul_transposed(handle, b.handle, out var made);
      return Of(made);
    }

    /// <summary>{@rc rc_op_matmul_quantized}</summary>
    public Tensor MatmulQuantized(Tensor weight) {
      native.op_matmul_quantized(handle, weight.handle, out var made);
      return Of(made);
    }

    /// <summary>{@rc rc_op_fused_linear}</summary>
    public Tensor FusedLinear(
        Tensor weight, Tensor bias = null, Function function = Function.None) {
      native.op_fused_linear(
          handle, weight.handle, bias?.handle, (int)function, out var made);
      return Of(made);
    }

    /// <summary>a + b, element by element, broadcast.</summary>
    public Tensor Add(Tensor b) {
      native.op_add(handle, b.handle, out var made);
      return Of(made);
    }

    /// <summary>a * b, element by element, broadcast.</summary>
    public Tensor Mul(Tensor b) {
      native.op_mul(handle, b.handle, out var made);
      return Of(made);
    }

    /// <summary>Element by element, broadcast.</summary>
    public static Tensor operator +(Tensor a, Tensor b) => a.Add(b);

    /// <summary>Element by element, broadcast.</summary>
    public static Tensor operator *(Tensor a, Tensor b) => a.Mul(b);

    /// <summary>x, or 0 where x is below, of each element.</summary>
    public Tensor Relu() {
      native.op_relu(handle, out var made);
      return Of(made);
    }

    /// <summary>1 / (1 + exp(-x)) of each element.</summary>
    public Tensor Sigmoid() {
      native.op_sigmoid(handle, out var made);
      return Of(made);
    }

    /// <summary>x / (1 + exp(-x)) of each element.</summary>
    public Tensor Silu() {
      native.op_silu(handle, out var made);
      return Of(made);
    }

    /// <summary>0.5 x (1 + erf(x / sqrt(2))) of each element.</summary>
    public Tensor Gelu() {
      native.op_gelu(handle, out var made);
      return Of(made);
    }

    /// <summary>0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) of each
    /// element.</summary>
    public Tensor GeluTanh() {
      native.op_gelu_tanh(handle, out var made);
      return Of(made);
    }

    /// <summary>x / (1 + exp(-1.702 x)) of each element.</summary>
    public Tensor GeluQuick() {
      native.op_gelu_quick(handle, out var made);
      return Of(made);
    }

    /// <summary>The hyperbolic tangent of each element.</summary>
    public Tensor Tanh() {
      native.op_tanh(handle, out var made);
      return Of(made);
    }

    /// <summary>{@rc rc_op_softmax}</summary>
    public Tensor Softmax(int dimension = -1) {
      native.op_softmax(handle, dimension, out var made);
      return Of(made);
    }

    /// <summary>{@rc rc_op_rms_norm}</summary>
    public Tensor RmsNorm(Tensor weight = null, double epsilon = 1e-5) {
      native.op_rms_norm(handle, weight?.handle, (float)epsilon, out var made);
      return Of(made);
    }

    /// <summary>{@rc rc_op_layer_norm}</summary>
    public Tensor LayerNorm(
        Tensor weight = null, Tensor bias = null, double epsilon = 1e-5) {
      native.op_layer_norm(
          handle, weight?.handle, bias?.handle, (float)epsilon, out var made);
      return Of(made);
    }

    /// <summary>{@rc rc_op_rope}</summary>
    public Tensor Rope(
        Tensor positions, Tensor frequencies = null,
        RopeOptions options = null) {
      using (rope_options given = (options ?? new RopeOptions()).Make()) {
        native.op_rope(
            handle, positions.handle, frequencies?.handle, given, out var made);
        return Of(made);
      }
    }

    /// <summary>{@rc rc_op_attention}</summary>
    public Tensor Attention(
        Tensor k, Tensor v, AttentionOptions options = null) {
      using (attention_options given =
          (options ?? new AttentionOptions()).Make()) {
        native.op_attention(handle, k.handle, v.handle, given, out var made);
        return Of(made);
      }
    }

    /// <summary>The sum of all elements, shape [1], or over one dimension,
    /// which the result lacks or, with `keep`, has with size 1.</summary>
    public Tensor Sum(int dimension = All, bool keep = false) {
      native.op_reduce_sum(handle, dimension, keep ? 1 : 0, out var made);
      return Of(made);
    }

    /// <summary>The mean of all elements, shape [1], or over one dimension,
    /// which the result lacks or, with `keep`, has with size 1.</summary>
    public Tensor Mean(int dimension = All, bool keep = false) {
      native.op_reduce_mean(handle, dimension, keep ? 1 : 0, out var made);
      return Of(made);
    }

    /// <summary>The maximum of all elements, shape [1], or over one dimension,
    /// which the result lacks or, with `keep`, has with size 1.</summary>
    public Tensor Max(int dimension = All, bool keep = false) {
      native.op_reduce_max(handle, dimension, keep ? 1 : 0, out var made);
      return Of(made);
    }

    /// <summary>The index of the largest, I32, of all elements, shape [1], or
    /// over one dimension, which the result lacks or, with `keep`, has with
    /// size 1.</summary>
    public Tensor Argmax(int dimension = All, bool keep = false) {
      native.op_argmax(handle, dimension, keep ? 1 : 0, out var made);
      return Of(made);
    }

    /// <summary>{@rc rc_op_conv2d}</summary>
    public Tensor Conv2d(
        Tensor weight, Tensor bias = null, Conv2dOptions options = null) {
      using (conv2d_options given = (options ?? new Conv2dOptions()).Make()) {
        native.op_conv2d(
            handle, weight.handle, bias?.handle, given, out var made);
        return Of(made);
      }
    }

    /// <summary>{@rc rc_op_gather_rows}</summary>
    public Tensor GatherRows(Tensor ids) {
      native.op_gather_rows(handle, ids.handle, out var made);
      return Of(made);
    }

    /// <summary>{@rc rc_op_quantize}</summary>
    public Tensor Quantize(Dtype dtype) {
      native.op_quantize(handle, (int)dtype, out var made);
      return Of(made);
    }

    /// <summary>{@rc rc_op_dequantize}</summary>
    public Tensor Dequantize() {
      native.op_dequantize(handle, out var made);
      return Of(made);
    }

    private static byte[] Raw(Array numbers, int size) {
      long bytes = (long)numbers.Length * size;
      if (bytes > int.MaxValue) {
        throw new ArgumentException(
            numbers.Length + " elements of " + size
                + " bytes are more than an array of bytes holds");
      }
      var made = new byte[bytes];
      Buffer.BlockCopy(numbers, 0, made, 0, made.Length);
      return made;
    }
  }
}
