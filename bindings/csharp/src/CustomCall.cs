using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using Runcible.Native;

namespace Runcible {
  /// <summary>An input or an output of the function of a custom op: memory of
  /// the library, row-major, during the call only. Using it later throws
  /// ClosedException.</summary>
  public sealed class CustomValue {
    /// The layout in C; see custom_call_value.
    [StructLayout(LayoutKind.Sequential)]
    internal struct Raw {
      internal IntPtr Data;
      internal ulong Bytes;
      internal long Dtype;
      internal long Rank;
      internal long Size0, Size1, Size2, Size3;
    }

    private static readonly Dictionary<Type, int> sizes =
        new Dictionary<Type, int> {
          [typeof(float)] = 4, [typeof(double)] = 8, [typeof(byte)] = 1,
          [typeof(short)] = 2, [typeof(int)] = 4, [typeof(long)] = 8
        };

    private readonly Raw raw;
    private readonly bool isOutput;
    private volatile bool over;

    internal CustomValue(Raw raw, bool isOutput) {
      this.raw = raw;
      this.isOutput = isOutput;
      Shape = new[] { raw.Size0, raw.Size1, raw.Size2, raw.Size3 };
      Array.Resize(ref Shape, (int)raw.Rank);
    }

    /// <summary>The dimensions, slowest first.</summary>
    public readonly long[] Shape;

    /// <summary>The type of the elements.</summary>
    public Dtype Dtype => (Dtype)raw.Dtype;

    /// <summary>The bytes that the elements take.</summary>
    public long ByteSize => (long)raw.Bytes;

    /// <summary>The address of the elements, for unsafe code.</summary>
    public IntPtr Address => raw.Data;

    /// <summary>Copies elements to an array and fills it, beginning with
    /// element `first`. The elements of the array must have the size of the
    /// type: float, double, byte, short, int or long.</summary>
    public void Read<T>(T[] into, long first = 0) where T : struct {
      IntPtr from = At(into, first, out ulong bytes);
      GCHandle pinned = GCHandle.Alloc(into, GCHandleType.Pinned);
      try {
        native.copy_memory(pinned.AddrOfPinnedObject(), from, bytes);
      } finally {
        pinned.Free();
      }
    }

    /// <summary>Writes elements of an output, beginning with element
    /// `first`.</summary>
    public void Write<T>(T[] from, long first = 0) where T : struct {
      if (!isOutput) {
        throw new InvalidOperationException("an input cannot be written");
      }
      IntPtr to = At(from, first, out ulong bytes);
      GCHandle pinned = GCHandle.Alloc(from, GCHandleType.Pinned);
      try {
        native.copy_memory(to, pinned.AddrOfPinnedObject(), bytes);
      } finally {
        pinned.Free();
      }
    }

    /// <summary>Returns all numbers of a value of F32.</summary>
    public float[] ToFloats() {
      var made = new float[ByteSize / sizeof(float)];
      Read(made);
      return made;
    }

    internal void End() {
      over = true;
    }

    /// Returns the address of an element, followed by as many as the array has.
    private IntPtr At<T>(T[] array, long first, out ulong bytes) {
      if (over) {
        throw new ClosedException(
            "the call to which this value belongs is over");
      }
      if (!sizes.TryGetValue(typeof(T), out int size)) {
        throw new ArgumentException(
            "elements of custom ops are float, double, byte, short, int or "
                + "long, not " + typeof(T).Name);
      }
      long all = ByteSize / size;
      if (first < 0 || first > all || array.Length > all - first) {
        throw new ArgumentOutOfRangeException(
            nameof(first), first,
            array.Length + " elements from there are not within the " + all
                + " of the value");
      }
      bytes = (ulong)array.Length * (ulong)size;
      return new IntPtr(raw.Data.ToInt64() + first * size);
    }
  }

  /// <summary>A call of the function of a custom op: the items to compute, with
  /// inputs and outputs.</summary>
  public sealed class CustomCall {
    private readonly IntPtr address;

    internal CustomCall(IntPtr address) {
      this.address = address;
      native.custom_call_describe(
          address, out ulong inputs, out ulong outputs, out ulong attributes,
          out long begin, out long end, out IntPtr numbers);
      Begin = begin;
      End = end;
      var given = new double[attributes];
      if (given.Length > 0) {
        Marshal.Copy(numbers, given, 0, given.Length);
      }
      Attributes = given;
      Inputs = Values(0, (long)inputs, false);
      Outputs = Values((long)inputs, (long)(inputs + outputs), true);
    }

    /// <summary>The inputs in the order of the signature.</summary>
    public IReadOnlyList<CustomValue> Inputs { get; }

    /// <summary>The outputs in the order of the signature; their bytes are
    /// undefined at first.</summary>
    public IReadOnlyList<CustomValue> Outputs { get; }

    /// <summary>The attributes in the order of their names.</summary>
    public IReadOnlyList<double> Attributes { get; }

    /// <summary>The first item to compute; without Items there is
    /// one.</summary>
    public long Begin { get; }

    /// <summary>The item before which to end.</summary>
    public long End { get; }

    /// <summary>Whether to stop, as the result is no longer needed. A function
    /// that takes longer than 20 ms checks this now and then, and
    /// returns.</summary>
    public bool Stopped => native.custom_call_stopped(address) != 0;

    internal void Close() {
      foreach (CustomValue each in Inputs) {
        each.End();
      }
      foreach (CustomValue each in Outputs) {
        each.End();
      }
    }

    private CustomValue[] Values(long from, long to, bool isOutput) {
      var made = new CustomValue[to - from];
      for (long i = from; i < to; ++i) {
        native.custom_call_value(address, i, out CustomValue.Raw raw);
        made[i - from] = new CustomValue(raw, isOutput);
      }
      return made;
    }
  }
}
