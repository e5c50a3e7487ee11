using System;
using System.Threading;

namespace Runcible {
  /// A lock for a few instructions. It is not a monitor: when a process ends,
  /// mono stops all threads, and sometimes deadlocks with a thread that waits
  /// for a monitor at that time. Not reentrant.
  internal sealed class ShortLock {
    private SpinLock spin = new SpinLock(false);

    /// Takes the lock; the result is for `using`, whose end releases it.
    internal Held Take() {
      bool taken = false;
      spin.Enter(ref taken);
      return new Held(this);
    }

    internal struct Held : IDisposable {
      private readonly ShortLock owner;

      internal Held(ShortLock owner) {
        this.owner = owner;
      }

      public void Dispose() {
        owner.spin.Exit();
      }
    }
  }
}
