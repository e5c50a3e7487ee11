using System;
using System.Runtime.InteropServices;

namespace Runcible {
  /// The exception that a wrapper has noted on this thread, which is thrown
  /// when the wrapper has returned: exceptions must not pass through C.
  internal static class Raised {
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    private delegate void Callback(
        int status, IntPtr message, long retryAfter);

    /// Kept from the collector, as C refers to it.
    private static readonly Callback callback = Note;

    [ThreadStatic] private static Exception pending;

    internal static bool Pending => pending != null;

    [DllImport("runciblecsharp", EntryPoint = "runcible_watch",
               CallingConvention = CallingConvention.Cdecl)]
    private static extern void Watch(Callback raise);

    internal static bool Watch() {
      Watch(callback);
      return true;
    }

    internal static Exception Retrieve() {
      Exception raised = pending;
      pending = null;
      return raised;
    }

    /// Notes an exception; the time after which to try again is a number of
    /// milliseconds, -1 if it is not known.
    private static void Note(int status, IntPtr message, long retryAfter) {
      try {
        pending = Errors.Of(
            status, Memory.Text(message), null,
            retryAfter < 0
                ? (TimeSpan?)null : TimeSpan.FromMilliseconds(retryAfter));
      } catch (Exception failure) {
        pending = failure;
      }
    }
  }
}
