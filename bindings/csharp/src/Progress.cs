using System;
using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;
using System.Threading;

namespace Runcible {
  /// The progress of one opening or load: what the function throws may not pass through C.
  internal sealed class Progress {
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    internal delegate int Callback(IntPtr user, double fraction);

    private readonly Action<double> told;
    private ExceptionDispatchInfo thrown;
    private bool aborted;

    internal Progress(Action<double> told) {
      this.told = told;
      Told = Tell;
    }

    /// To be kept from the collector while it goes on.
    internal Callback Told { get; }

    internal void Rethrow() {
      if (aborted) {
        Thread.CurrentThread.Abort();
      }
      thrown?.Throw();
    }

    private int Tell(IntPtr user, double fraction) {
      try {
        told(fraction);
        return 0;
      } catch (ThreadAbortException) {
        // It would go on through C; see Rethrow.
        Thread.ResetAbort();
        aborted = true;
        return 1;
      } catch (Exception failure) {
        thrown = ExceptionDispatchInfo.Capture(failure);
        return 1;
      }
    }
  }
}
