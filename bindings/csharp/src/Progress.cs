using System;
using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;
using System.Threading;

namespace Runcible {
  /// The progress of one opening, switch or load. Exceptions of the function
  /// must not pass through C.
  internal sealed class Progress {
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    internal delegate int Callback(IntPtr user, double fraction);

    private readonly Action<double> function;
    private ExceptionDispatchInfo thrown;
    private bool aborted;

    internal Progress(Action<double> function) {
      this.function = function;
      Receiver = Report;
    }

    /// The callback for C. Keep this object from the collector during the call.
    internal Callback Receiver { get; }

    internal void Rethrow() {
      if (aborted) {
        Thread.CurrentThread.Abort();
      }
      thrown?.Throw();
    }

    private int Report(IntPtr user, double fraction) {
      try {
        function(fraction);
        return 0;
      } catch (ThreadAbortException) {
        // The abort would go on through C; see Rethrow.
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
