using System;
using System.Runtime.InteropServices;

namespace Runcible {
  /// A reference to an object of the library that counts the calls that use it.
  /// It is released when it is closed, or collected, and the last of these
  /// calls has returned. The handle classes that SWIG generates are subclasses.
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

    /// Whether the call may use the reference, and then must leave it.
    internal static bool Use(Reference reference) {
      bool used = false;
      try {
        reference?.DangerousAddRef(ref used);
      } catch (ObjectDisposedException) {
        // Opened throws it, where Leave still runs for the other references.
      }
      return used;
    }

    /// Returns the address; zero for null.
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

  /// <summary>Owns an object of the library until it is disposed of or
  /// collected.</summary>
  /// <remarks>Handles may be disposed of in any order and by any thread: an
  /// object keeps the objects that it needs, and calls under way go on to their
  /// end. Using a handle afterwards throws ClosedException.</remarks>
  public abstract class Handle : IDisposable {
    private readonly Reference reference;

    internal Handle(Reference reference) {
      this.reference = reference;
    }

    /// <summary>Releases the object; disposing again does nothing.</summary>
    public virtual void Dispose() {
      reference.Dispose();
    }

    /// <summary>Whether the handle was disposed of.</summary>
    public bool IsClosed => reference.IsClosed;
  }
}
