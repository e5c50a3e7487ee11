using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using Runcible.Native;

namespace Runcible {
  /// Receives the events of a request, on the mailbox's thread: must not block.
  internal interface IReceiver {
    void Take(Event taken);

    /// Receives the failure when events were lost; no more events follow.
    void Fail(Exception cause);
  }

  /// Receives the events of requests that do not block a thread. One background
  /// thread takes them out and hands them to the receivers; no thread of the
  /// library runs C#.
  internal sealed class Mailbox {
    /// How often the thread returns from C: a process of mono ends only when it
    /// has aborted all threads, which it cannot within C. Milliseconds.
    private const long SliceMs = 100;

    /// Held while a mailbox is made.
    private static readonly object making = new object();
    private static volatile Mailbox current;

    private readonly mailbox box;
    /// Protects the members that follow.
    private readonly ShortLock receiving = new ShortLock();
    private readonly Dictionary<ulong, IReceiver> receivers =
        new Dictionary<ulong, IReceiver>();
    private ulong lastKey;

    private Mailbox() {
      native.mailbox_create(out var created);
      box = new mailbox(created);
      new Thread(Run) {IsBackground = true, Name = "runcible events"}.Start();
    }

    /// Starts a request of a mailbox with a key.
    internal delegate IntPtr Beginning(mailbox box, ulong key);

    /// Starts a request whose events go to the receiver.
    internal static request Start(Beginning begin, IReceiver receiver) {
      Mailbox mailbox = current;
      if (mailbox == null) {
        lock (making) {
          mailbox = current ?? (current = new Mailbox());
        }
      }
      return mailbox.Add(begin, receiver);
    }

    private request Add(Beginning begin, IReceiver receiver) {
      ulong key;
      using (receiving.Take()) {
        key = ++lastKey;
        receivers[key] = receiver;
      }
      try {
        return new request(begin(box, key));
      } catch {
        using (receiving.Take()) {
          receivers.Remove(key);
        }
        throw;
      }
    }

    private void Run() {
      try {
        while (true) {
          native.mailbox_watch(box, SliceMs);
          native.mailbox_take(box, out IntPtr first);
          Deliver(first);
        }
      } catch (ThreadAbortException) {
        // The process ends.
      } catch (Exception lost) {
        // All streams are incomplete now; the next request makes a new mailbox.
        Abandon(lost);
      }
    }

    private void Deliver(IntPtr first) {
      try {
        for (IntPtr event_ = first; event_ != IntPtr.Zero;) {
          event_ = native.events_next(event_, out Event.Raw raw);
          Event taken = Event.Read(raw);
          IReceiver receiver;
          using (receiving.Take()) {
            receiver = receivers[taken.Key];
            if (taken.IsEnd) {
              receivers.Remove(taken.Key);
            }
          }
          receiver.Take(taken);
        }
      } finally {
        native.events_free(first);
      }
    }

    private void Abandon(Exception lost) {
      lock (making) {
        if (current == this) {
          current = null;
        }
      }
      box.Dispose();
      IReceiver[] left;
      using (receiving.Take()) {
        left = receivers.Values.ToArray();
        receivers.Clear();
      }
      foreach (IReceiver receiver in left) {
        receiver.Fail(lost);
      }
    }
  }
}
