using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using Runcible.Native;

namespace Runcible {
  /// What has come of one request and was not yet read.
  internal sealed class PieceChannel : IReceiver {
    /// Completed when the last event has come.
    private readonly TaskCompletionSource<bool> ended = Source();
    private readonly CancellationToken cancel;
    private CancellationTokenRegistration registration;
    private volatile request request;
    private volatile bool stopping;

    /// Of all that follows.
    private readonly ShortLock gate = new ShortLock();
    private readonly Queue<Piece> pieces = new Queue<Piece>();
    private TaskCompletionSource<bool> waiter;
    private Report report;
    private Exception error;
    private bool over;
    private bool disposed;

    internal PieceChannel(CancellationToken cancel) {
      this.cancel = cancel;
    }

    /// Those who wait go on in the thread pool, never on the mailbox's thread.
    private static TaskCompletionSource<bool> Source() =>
        new TaskCompletionSource<bool>(
            TaskCreationOptions.RunContinuationsAsynchronously);

    internal void Start(session session, generate_options options) {
      cancel.ThrowIfCancellationRequested();
      request = Mailbox.Start(session, options, this);
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

    internal Piece Current { get; private set; }

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
        pieces.Enqueue(taken.Piece);
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

    private void End(Report told, Exception cause) {
      using (gate.Take()) {
        report = told;
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

    /// Whether a step need not wait. Pieces are dropped once the token is
    /// cancelled or the reader has gone, who wants none of them.
    private bool Ready() {
      if (disposed || cancel.IsCancellationRequested) {
        pieces.Clear();
      }
      return pieces.Count > 0 || over;
    }

    private bool Step() {
      if (pieces.Count > 0) {
        Current = pieces.Dequeue();
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
