using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using Runcible.Native;

namespace Runcible {
  /// <summary>{@rc tensor.h}</summary>
  public sealed class Tensor : Handle {
    private const int All = int.MinValue;

    private static readonly Dictionary<Type, Dtype> dtypes =
        new Dictionary<Type, Dtype> {
          [typeof(float)] = Dtype.F32, [typeof(double)] = Dtype.F64,
          [typeof(sbyte)] = Dtype.I8, [typeof(short)] = Dtype.I16,
          [typeof(int)] = Dtype.I32, [typeof(long)] = Dtype.I64
        };

    private readonly tensor handle;

    private Tensor(tensor handle) : base(handle) {
      this.handle = handle;
    }

    internal static Tensor Of(IntPtr address) => new Tensor(new tensor(address));

    /// <summary>A tensor of F32 numbers, row-major, which are copied.</summary>
    public static Tensor From(
        Backend backend, float[] numbers, params long[] shape) =>
        From(backend, Dtype.F32, Raw(numbers, sizeof(float)), shape);

    /// <summary>A tensor of I32 numbers, row-major, which are copied.</summary>
    public static Tensor From(
        Backend backend, int[] numbers, params long[] shape) =>
        From(backend, Dtype.I32, Raw(numbers, sizeof(int)), shape);

    /// <summary>A tensor of the memory of an array, which is not copied, and
    /// is pinned as long as the library needs it.</summary>
    /// <remarks>What is written to the array later ops read, and ops that go into
    /// the tensor write there; not while a call works with it. For a device with
    /// memory of its own it is an UnsupportedException.</remarks>
    /// <param name="backend">the device</param>
    /// <param name="numbers">of float, double, sbyte, short, int or long</param>
    /// <param name="shape">the slowest dimension first</param>
    public static Tensor Borrow<T>(
        Backend backend, T[] numbers, params long[] shape) where T : struct {
      if (!dtypes.TryGetValue(typeof(T), out Dtype dtype)) {
        throw new ArgumentException(
            "numbers are float, double, sbyte, short, int or long, not "
                + typeof(T).Name);
      }
      GCHandle pinned = GCHandle.Alloc(numbers, GCHandleType.Pinned);
      return Borrow(
          backend, dtype, pinned.AddrOfPinnedObject(),
          (ulong)Buffer.ByteLength(numbers), pinned, shape);
    }

    /// <summary>The same of any memory, in the layout of the type, which stays
    /// there until `ended` is called: once, on a thread of the
    /// package.</summary>
    public static Tensor Borrow(
        Backend backend, Dtype dtype, IntPtr address, long bytes, Action ended,
        params long[] shape) =>
        Borrow(
            backend, dtype, address, Limits.NotNegative(bytes, "bytes"),
            GCHandle.Alloc(ended), shape);

    private static Tensor Borrow(
        Backend backend, Dtype dtype, IntPtr address, ulong bytes, GCHandle lent,
        long[] shape) {
      Asked.Begin();
      try {
        native.tensor_borrow(
            backend.handle, (int)dtype, shape, shape.Length, address, bytes,
            GCHandle.ToIntPtr(lent), out var made);
        return Of(made);
      } catch {
        lent.Free();
        throw;
      }
    }

    // :api: makers

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

    /// <summary>{@rc rc_tensor_device}</summary>
    public string Device {
      get {
        native.tensor_device(handle, out var name);
        return Memory.Text(name);
      }
    }

    /// <summary>{@rc rc_tensor_to}</summary>
    public Tensor To(string device = "", Backend backend = null) {
      native.tensor_to(
          handle, backend?.handle, Memory.Name(device), out var made);
      return Of(made);
    }

    /// <summary>{@rc rc_op_choose}</summary>
    public string Choice() {
      native.op_choose(handle, out var made);
      return Memory.TakeText(made);
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

    // Views and ops. What may be null is null if it is left out.

    // :api: ops

    /// <summary>Element by element, broadcast.</summary>
    public static Tensor operator +(Tensor a, Tensor b) => a.Add(b);

    /// <summary>Element by element, broadcast.</summary>
    public static Tensor operator *(Tensor a, Tensor b) => a.Mul(b);

    /// What stands for such a tensor as the next input of a graph.
    internal Tensor StandIn(graph recorded) {
      long[] shape = Shape;
      native.graph_input(
          recorded, (int)Dtype, shape, shape.Length, out var made);
      return Of(made);
    }

    internal void AddTo(tensor_list list) {
      list.add(handle);
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
