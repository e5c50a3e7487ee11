using System;
using System.Buffers;
using System.Runtime.InteropServices;
using Runcible.Native;

namespace Runcible {
  /// <summary>Memory of numbers that a device moves from and to by itself,
  /// without a copy in between: Tensor.From, Read and Borrow take it, as Memory and
  /// as spans.</summary>
  /// <remarks>It counts within the backend's MemoryLimit. It is given back when it
  /// is disposed of, and not when it is collected, for spans do not keep it: none may
  /// be in use then. Tensors that were borrowed of it keep the memory longer, and so
  /// does what Pin gave. Using it afterwards, also as Memory, throws
  /// ClosedException.</remarks>
  public sealed class Pinned<T> : MemoryManager<T>, IDisposable
      where T : struct {
    private readonly pinned handle;
    private readonly IntPtr address;
    private readonly int count;
    // At once, where what Pin gave holds the handle still.
    private volatile bool closed;

    /// <summary>Room for numbers of float, double, sbyte, short, int or long,
    /// which are zero at first.</summary>
    /// <param name="backend">the device</param>
    /// <param name="count">at least 1</param>
    /// <param name="device">one of the backend's; "" is where its new tensors
    /// lie</param>
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

    /// <summary>Whether it was disposed of.</summary>
    public bool IsClosed => closed;

    /// <summary>The memory.</summary>
    public override unsafe Span<T> GetSpan() {
      if (closed) {
        throw Closed();
      }
      return new Span<T>(address.ToPointer(), count);
    }

    /// <summary>Where an element lies, until what this gives is disposed
    /// of.</summary>
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

    /// <summary>What MemoryHandle calls.</summary>
    public override void Unpin() {
      Reference.Leave(handle, true);
    }

    /// <summary>Gives the memory back; more than once does nothing.</summary>
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
