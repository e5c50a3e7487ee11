using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using Runcible.Native;

namespace Runcible {
  /// <summary>The pieces of a text as they come, for await foreach; no thread
  /// waits for them.</summary>
  /// <remarks>The generation starts with the enumerator, of which there can be
  /// one. What has come and was not read waits in memory: the engine does not
  /// wait for a reader. An end that is no success is thrown after the last
  /// piece. Cancelling the token ends the generation, and
  /// OperationCanceledException is thrown when it has ended; so does disposing
  /// of the enumerator, as await foreach does when it is left.</remarks>
  public sealed class PieceStream : IAsyncEnumerable<Piece> {
    private readonly session session;
    private readonly string prompt;
    private readonly GenerateOptions options;
    private PieceEnumerator started;

    internal PieceStream(
        session session, string prompt, GenerateOptions options) {
      this.session = session;
      this.prompt = prompt;
      this.options = options;
    }

    /// <summary>Starts the generation.</summary>
    public IAsyncEnumerator<Piece> GetAsyncEnumerator(
        CancellationToken cancel = default(CancellationToken)) {
      var made = new PieceEnumerator(cancel);
      if (Interlocked.CompareExchange(ref started, made, null) != null) {
        throw new InvalidOperationException("a stream can be read once");
      }
      using (generate_options given = options.Make(prompt)) {
        made.Start(session, given);
      }
      return made;
    }

    /// <summary>Has each piece dealt with, one after the other; for compilers
    /// that lack await foreach.</summary>
    public async Task ForEachAsync(
        Action<Piece> deal,
        CancellationToken cancel = default(CancellationToken)) {
      IAsyncEnumerator<Piece> pieces = GetAsyncEnumerator(cancel);
      try {
        while (await pieces.MoveNextAsync().ConfigureAwait(false)) {
          deal(pieces.Current);
        }
      } finally {
        await pieces.DisposeAsync().ConfigureAwait(false);
      }
    }

    /// <summary>Asks the generation to end: CancelledException after the pieces
    /// that have come.</summary>
    public void Cancel() {
      Volatile.Read(ref started)?.Stop();
    }

    /// <summary>How it ended, and times and counts; null before the
    /// end.</summary>
    public Report Report => Volatile.Read(ref started)?.Report;
  }

  /// The reader of one stream.
  internal sealed class PieceEnumerator : IAsyncEnumerator<Piece>, IReceiver {
    /// Completed when the last event has come.
    private readonly TaskCompletionSource<bool> ended = Source();
    private readonly CancellationToken cancel;
    private CancellationTokenRegistration registration;
    private volatile request request;
    private volatile bool stopping;

    /// Of all that follows.
    private readonly object gate = new object();
    private readonly Queue<Piece> pieces = new Queue<Piece>();
    private TaskCompletionSource<bool> waiter;
    private Report report;
    private Exception error;
    private bool over;
    private bool disposed;

    internal PieceEnumerator(CancellationToken cancel) {
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
        lock (gate) {
          return report;
        }
      }
    }

    public Piece Current { get; private set; }

    public ValueTask<bool> MoveNextAsync() {
      lock (gate) {
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

    public ValueTask DisposeAsync() {
      Stop();
      lock (gate) {
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
      lock (gate) {
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
      lock (gate) {
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
