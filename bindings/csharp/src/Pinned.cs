using System;
using System.Buffers;
using System.Runtime.InteropServices;
using Runcible.Native;

namespace Runcible {
  /// <summary>Memory of numbers that a device copies from and to directly.
  /// Tensor.From, Read and Borrow take it, as Memory and as spans.</summary>
  /// <remarks>It counts within the backend's MemoryLimit. Dispose releases it;
  /// the collector does not, for spans do not keep it: no span may be in use at
  /// that time. Tensors that borrow the memory and handles that Pin returned
  /// keep it longer. Using it afterwards, also as Memory, throws
  /// ClosedException.</remarks>
  public sealed class Pinned<T> : MemoryManager<T>, IDisposable
      where T : struct {
    private readonly pinned handle;
    private readonly IntPtr address;
    private readonly int count;
    // Set at once, also while the result of Pin still holds the handle.
    private volatile bool closed;

    /// <summary>Allocates room for numbers of float, double, sbyte, short, int
    /// or long, which are zero at first.</summary>
    /// <param name="backend">the backend</param>
    /// <param name="count">at least 1</param>
    /// <param name="device">a device of the backend; "": the device of its new
    /// tensors</param>
    public Pinned(Backend backend, int count, string device = "") {
      Tensor.DtypeOf<T>();
      if (count < 1) {
        throw new ArgumentOutOfRangeException(
            nameof(count), count, "at least one number is needed");
      }
      native.pinned_make(
          backend.handle, global::Runcible.Memory.Name(device),
          (long)count * Size, out var made);
      handle = new pinned(made);
      GC.SuppressFinalize(handle);
      this.count = count;
      native.pinned_show(handle, out address);
    }

    private static int Size => Marshal.SizeOf(typeof(T));

    internal pinned Handle => handle;

    /// <summary>Whether the memory was disposed of.</summary>
    public bool IsClosed => closed;

    /// <summary>The memory.</summary>
    public override unsafe Span<T> GetSpan() {
      if (closed) {
        throw Closed();
      }
      return new Span<T>(address.ToPointer(), count);
    }

    /// <summary>Returns the address of an element, which is valid until the
    /// result is disposed of.</summary>
    public override unsafe MemoryHandle Pin(int elementIndex = 0) {
      if (elementIndex < 0 || elementIndex > count) {
        throw new ArgumentOutOfRangeException(nameof(elementIndex));
      }
      if (closed || !Reference.Use(handle)) {
        throw Closed();
      }
      return new MemoryHandle(
          (byte*)address.ToPointer() + (long)elementIndex * Size,
          default(GCHandle), this);
    }

    /// <summary>Ends a Pin; MemoryHandle calls it.</summary>
    public override void Unpin() {
      Reference.Leave(handle, true);
    }

    /// <summary>Releases the memory; disposing again does nothing.</summary>
    public void Dispose() {
      closed = true;
      handle.Dispose();
    }

    /// <summary>The same.</summary>
    protected override void Dispose(bool disposing) {
      Dispose();
    }

    private static ClosedException Closed() =>
        new ClosedException("this Pinned is closed");
  }
}
