using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using Runcible.Native;

namespace Runcible {
  /// The parts of one request that were not yet read.
  internal sealed class PartChannel<T> : IReceiver where T : Part {
    /// Completed when the last event has arrived.
    private readonly TaskCompletionSource<bool> ended = Source();
    private readonly CancellationToken cancel;
    private CancellationTokenRegistration registration;
    private volatile request request;
    private volatile bool stopping;

    /// Protects the members that follow.
    private readonly ShortLock gate = new ShortLock();
    private readonly Queue<T> parts = new Queue<T>();
    private TaskCompletionSource<bool> waiter;
    private Report report;
    private Exception error;
    private bool over;
    private bool disposed;

    internal PartChannel(CancellationToken cancel) {
      this.cancel = cancel;
    }

    /// Makes a source whose waiting tasks go on in the thread pool, never on
    /// the mailbox's thread.
    private static TaskCompletionSource<bool> Source() =>
        new TaskCompletionSource<bool>(
            TaskCreationOptions.RunContinuationsAsynchronously);

    internal void Start(Mailbox.Beginning begin) {
      cancel.ThrowIfCancellationRequested();
      request = Mailbox.Start(begin, this);
      if (stopping) {
        Stop();
      }
      registration = cancel.Register(Stop);
    }

    internal void Stop() {
      stopping = true;
      request started = request;
      if (started != null) {
        Generation.Stop(started);
      }
    }

    internal Report Report {
      get {
        using (gate.Take()) {
          return report;
        }
      }
    }

    internal T Current { get; private set; }

    internal ValueTask<bool> MoveNextAsync() {
      using (gate.Take()) {
        if (waiter != null) {
          throw new InvalidOperationException(
              "another task waits for this stream");
        }
        if (Ready()) {
          return new ValueTask<bool>(Step());
        }
        waiter = Source();
        return new ValueTask<bool>(waiter.Task);
      }
    }

    internal ValueTask DisposeAsync() {
      Stop();
      using (gate.Take()) {
        disposed = true;
        error = null;
      }
      return new ValueTask(Close());
    }

    public void Take(Event taken) {
      if (taken.IsEnd) {
        End(taken.Report, taken.Error);
        return;
      }
      using (gate.Take()) {
        parts.Enqueue((T)taken.Part);
        Wake();
      }
    }

    public void Fail(Exception cause) {
      End(null, cause);
    }

    private async Task Close() {
      await ended.Task.ConfigureAwait(false);
      registration.Dispose();
      request.Dispose();
    }

    private void End(Report result, Exception cause) {
      using (gate.Take()) {
        report = result;
        over = true;
        if (disposed) {
          cause = null;
        }
        error = cause != null && cancel.IsCancellationRequested
            ? new OperationCanceledException(cause.Message, cause, cancel)
            : cause;
        Wake();
      }
      ended.SetResult(true);
    }

    /// Whether a step need not wait. Parts are dropped when the token is
    /// cancelled or the reader is gone.
    private bool Ready() {
      if (disposed || cancel.IsCancellationRequested) {
        parts.Clear();
      }
      return parts.Count > 0 || over;
    }

    private bool Step() {
      if (parts.Count > 0) {
        Current = parts.Dequeue();
        return true;
      }
      Current = null;
      Exception thrown = error;
      error = null;
      if (thrown != null) {
        throw thrown;
      }
      return false;
    }

    private void Wake() {
      if (waiter == null || !Ready()) {
        return;
      }
      TaskCompletionSource<bool> woken = waiter;
      waiter = null;
      try {
        woken.SetResult(Step());
      } catch (OperationCanceledException) {
        woken.SetCanceled();
      } catch (Exception failure) {
        woken.SetException(failure);
      }
    }
  }
}
