using System;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;
using Runcible.Native;

namespace Runcible {
  /// Threads that serve requests of the library's threads for C#; see
  /// swig/asked.h. There is always one more than there are functions under way,
  /// so that a function may wait for another.
  internal static class Asked {
    /// How often a thread returns from C; see Mailbox. Milliseconds.
    private const long SliceMs = 100;

    private static readonly object starting = new object();
    private static bool started;

    /// Starts the threads; called before the first request.
    internal static void Begin() {
      lock (starting) {
        if (!started) {
          AppDomain.CurrentDomain.ProcessExit +=
              (sender, arguments) => native.end_asking();
          StartThread();
          started = true;
        }
      }
    }

    private static void StartThread() {
      new Thread(Run) {IsBackground = true, Name = "runcible ops"}.Start();
    }

    private static void TryStartThread() {
      try {
        StartThread();
      } catch (OutOfMemoryException) {
        // This thread takes further requests.
      }
    }

    private static void Run() {
      try {
        while (true) {
          IntPtr asked = native.take_asked(
              SliceMs, out IntPtr handle, out IntPtr call, out int idle);
          if (asked == IntPtr.Zero) {
            // Keeps as many threads as were busy at once, up to the processors.
            if (idle > Environment.ProcessorCount) {
              return;
            }
            continue;
          }
          if (idle == 0) {
            TryStartThread();
          }
          if (call == IntPtr.Zero) {
            LetGo(GCHandle.FromIntPtr(handle));
            native.free_asked(asked);
          } else {
            Compute(asked, GCHandle.FromIntPtr(handle), call);
          }
        }
      } catch (ThreadAbortException) {
        // The process ends.
      }
    }

    private static void Compute(IntPtr asked, GCHandle function, IntPtr call) {
      int status = native.E_CANCELLED;
      string text = "the program ends";
      try {
        var given = new CustomCall(call);
        try {
          ((Action<CustomCall>)function.Target)(given);
        } finally {
          given.Close();
        }
        status = native.OK;
        text = null;
      } catch (ThreadAbortException) {
        // Goes on after the answer.
      } catch (Exception failure) {
        var own = failure as IRuncibleException;
        status = own == null ? native.E_DEVICE : own.Status;
        text = own == null ? failure.GetType().Name + ": " + failure.Message
                           : failure.Message;
      } finally {
        native.answer(
            asked, status,
            text == null ? null : Encoding.UTF8.GetBytes(text + (char)0));
      }
    }

    private static void LetGo(GCHandle lent) {
      var ended = lent.Target as Action;
      lent.Free();
      try {
        ended?.Invoke();
      } catch (ThreadAbortException) {
        // Goes on.
      } catch (Exception) {
        // No caller waits for it.
      }
    }
  }
}
