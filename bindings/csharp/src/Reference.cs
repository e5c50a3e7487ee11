using System;
using System.Runtime.InteropServices;

namespace Runcible {
  /// One reference to an object of the library, with the calls that use it
  /// counted: it is given back when it is closed, or collected, and the last of
  /// them has returned. What SWIG makes of handles are subclasses.
  internal abstract class Reference : SafeHandle {
    private readonly Action<IntPtr> free;

    protected Reference(IntPtr address, Action<IntPtr> free)
        : base(IntPtr.Zero, true) {
      this.free = free;
      SetHandle(address);
    }

    public override bool IsInvalid => handle == IntPtr.Zero;

    protected override bool ReleaseHandle() {
      free(handle);
      return true;
    }

    /// Whether the call may use it, which then must leave it.
    internal static bool Use(Reference reference) {
      bool used = false;
      try {
        reference?.DangerousAddRef(ref used);
      } catch (ObjectDisposedException) {
        // Told by Opened, within the reach of Leave for the others.
      }
      return used;
    }

    /// The address; of null it is zero.
    internal static IntPtr Opened(Reference reference, bool used) {
      if (reference == null) {
        return IntPtr.Zero;
      }
      if (!used) {
        throw new ClosedException(
            "this " + reference.GetType().Name + " is closed");
      }
      return reference.DangerousGetHandle();
    }

    internal static void Leave(Reference reference, bool used) {
      if (used) {
        reference.DangerousRelease();
      }
    }
  }

  /// <summary>Owns an object of the library until it is disposed of, or
  /// collected.</summary>
  /// <remarks>Handles may be disposed of in any order and by any thread: what
  /// needs another handle keeps it, and calls under way go on to their end.
  /// Using one afterwards throws ClosedException.</remarks>
  public abstract class Handle : IDisposable {
    private readonly Reference reference;

    internal Handle(Reference reference) {
      this.reference = reference;
    }

    /// <summary>Gives the object back; more than once does nothing.</summary>
    public virtual void Dispose() {
      reference.Dispose();
    }

    /// <summary>Whether it was disposed of.</summary>
    public bool IsClosed => reference.IsClosed;
  }
}
