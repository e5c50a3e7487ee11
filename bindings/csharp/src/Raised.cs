using System;
using System.Runtime.InteropServices;

namespace Runcible {
  /// The exception that a wrapper has noted on this thread, which is thrown
  /// when the wrapper has returned: exceptions must not pass through C.
  internal static class Raised {
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    private delegate void Callback(int status, IntPtr message);

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

    private static void Note(int status, IntPtr message) {
      try {
        pending = Errors.Of(status, Memory.Text(message));
      } catch (Exception failure) {
        pending = failure;
      }
    }
  }
}
