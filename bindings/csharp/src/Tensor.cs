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

    internal readonly tensor handle;

    private Tensor(tensor handle) : base(handle) {
      this.handle = handle;
    }

    internal static Tensor Of(IntPtr address) => new Tensor(new tensor(address));

    /// <summary>Makes a tensor of F32 numbers, row-major, which are
    /// copied.</summary>
    public static Tensor From(
        Backend backend, float[] numbers, params long[] shape) =>
        From(backend, Spanned(numbers), shape);

    /// <summary>Makes a tensor of I32 numbers, row-major, which are
    /// copied.</summary>
    public static Tensor From(
        Backend backend, int[] numbers, params long[] shape) =>
        From(backend, Spanned(numbers), shape);

    /// <summary>Makes a tensor of numbers of float, double, sbyte, short, int
    /// or long, row-major, which are copied.</summary>
    public static unsafe Tensor From<T>(
        Backend backend, Span<T> numbers, params long[] shape)
        where T : struct {
      int dtype = (int)DtypeOf<T>();
      Span<byte> bytes = MemoryMarshal.AsBytes(numbers);
      fixed (byte* memory = &MemoryMarshal.GetReference(bytes)) {
        native.tensor_of_memory(
            backend.handle, dtype, shape, shape.Length, new IntPtr(memory),
            (ulong)bytes.Length, out var made);
        return Of(made);
      }
    }

    /// <summary>Makes a tensor of the memory of an array, which is not copied,
    /// and is pinned as long as the library needs it.</summary>
    /// <remarks>Later ops read what is written to the array, and ops that go
    /// into the tensor write there. Do not write while a call uses it. Throws
    /// UnsupportedException for a device with separate memory.</remarks>
    /// <param name="backend">the backend</param>
    /// <param name="numbers">of float, double, sbyte, short, int or
    /// long</param>
    /// <param name="shape">the slowest dimension first</param>
    public static Tensor Borrow<T>(
        Backend backend, T[] numbers, params long[] shape) where T : struct {
      Dtype dtype = DtypeOf<T>();
      GCHandle pinned = GCHandle.Alloc(numbers, GCHandleType.Pinned);
      return Borrow(
          backend, dtype, pinned.AddrOfPinnedObject(),
          (ulong)Buffer.ByteLength(numbers), pinned, shape);
    }

    /// <summary>The same for any memory, in the layout of the type. The memory
    /// must stay until `ended` is called: once, on a thread of the
    /// package.</summary>
    public static Tensor Borrow(
        Backend backend, Dtype dtype, IntPtr address, long bytes, Action ended,
        params long[] shape) =>
        Borrow(
            backend, dtype, address, Limits.NotNegative(bytes, "bytes"),
            GCHandle.Alloc(ended), shape);

    /// <summary>The same for pinned memory, which the tensor keeps.</summary>
    public static Tensor Borrow<T>(
        Backend backend, Pinned<T> memory, params long[] shape)
        where T : struct {
      native.pinned_borrow(
          backend.handle, (int)DtypeOf<T>(), shape, shape.Length, memory.Handle,
          0, long.MaxValue, out var made);
      return Of(made);
    }

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

    /// <summary>The size of the numbers in bytes, in their type.</summary>
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

    /// <summary>Returns the numbers, row-major and dense in the layout of the
    /// type.</summary>
    public byte[] Read() {
      var made = new byte[ByteSize];
      native.tensor_read(handle, made, (ulong)made.Length);
      return made;
    }

    /// <summary>Writes the numbers, row-major, to memory of the caller, which
    /// must have their type, or be of bytes, and have their size.</summary>
    public unsafe void Read<T>(Span<T> into) where T : struct {
      if (typeof(T) != typeof(byte) && DtypeOf<T>() != Dtype) {
        throw new ArgumentException(
            "numbers of " + Dtype + " cannot be written to "
                + typeof(T).Name);
      }
      Span<byte> bytes = MemoryMarshal.AsBytes(into);
      fixed (byte* memory = &MemoryMarshal.GetReference(bytes)) {
        native.tensor_read_memory(
            handle, new IntPtr(memory), (ulong)bytes.Length);
      }
    }

    /// <summary>Returns the numbers as F32, whatever their type;
    /// row-major.</summary>
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

    // Views and ops. Optional operands are null if they are left out.

    // :api: ops

    /// <summary>Element by element, broadcast.</summary>
    public static Tensor operator +(Tensor a, Tensor b) => a.Add(b);

    /// <summary>Element by element, broadcast.</summary>
    public static Tensor operator *(Tensor a, Tensor b) => a.Mul(b);

    /// Adds an input like this tensor to a graph, and returns its stand-in.
    internal Tensor StandIn(graph recorded) {
      long[] shape = Shape;
      native.graph_input(
          recorded, (int)Dtype, shape, shape.Length, out var made);
      return Of(made);
    }

    internal void AddTo(tensor_list list) {
      list.add(handle);
    }

    private static Span<T> Spanned<T>(T[] numbers) => new Span<T>(
        numbers ?? throw new ArgumentNullException(nameof(numbers)));

    /// Returns the tensor type of a number type of C#.
    internal static Dtype DtypeOf<T>() =>
        dtypes.TryGetValue(typeof(T), out Dtype dtype)
            ? dtype
            : throw new ArgumentException(
                "numbers are float, double, sbyte, short, int or long, not "
                    + typeof(T).Name);
  }
}
