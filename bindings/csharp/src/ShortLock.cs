using System;
using System.Threading;

namespace Runcible {
  /// A lock for a few instructions. It is no monitor: mono, which stops all
  /// threads when a process ends, deadlocks now and then with one that waits
  /// for a monitor just then. Not reentrant.
  internal sealed class ShortLock {
    private SpinLock spin = new SpinLock(false);

    /// Waits for it; for `using`, whose end gives it back.
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
