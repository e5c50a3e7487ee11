using System;
using System.Collections;
using System.Collections.Generic;
using System.Text;
using System.Threading;
using Runcible.Native;

namespace Runcible {
  /// <summary>The pieces of a text as they come; enumerating blocks.</summary>
  /// <remarks>An end without success (DeadlineException, CancelledException,
  /// ...) is thrown once, after the last piece. Dispose, which foreach calls
  /// when it is left, cancels the generation and waits for its end, so that the
  /// session can be used at once. Losing the last reference cancels it as well,
  /// some time later. If a thread has read a generation and left it otherwise,
  /// it ends when the thread uses the session next; reading on then throws
  /// CancelledException.</remarks>
  public sealed class Generation
      : Handle, IEnumerable<Piece>, IEnumerator<Piece> {
    /// How often a waiting thread returns from C, so that it can be aborted and
    /// interrupted; milliseconds.
    private const long SliceMs = 100;

    private readonly request handle;
    /// Held while reading; the library allows one reader at a time.
    private readonly object reading = new object();
    private readonly CancellationToken cancel;
    private readonly CancellationTokenRegistration registration;
    private Piece current;
    private volatile Thread reader;
    private volatile Event end;
    private bool endReported;

    internal Generation(request handle, CancellationToken cancel)
        : base(handle) {
      this.handle = handle;
      this.cancel = cancel;
      // The callback must not refer to this object, which would stay reachable.
      registration = cancel.Register(() => Stop(handle));
    }

    /// <summary>Returns this object: the pieces can be read once.</summary>
    public IEnumerator<Piece> GetEnumerator() => this;

    IEnumerator IEnumerable.GetEnumerator() => this;

    /// <summary>The last piece that was read.</summary>
    public Piece Current => current;

    object IEnumerator.Current => current;

    /// <summary>Waits for the next piece; false after the last.</summary>
    public bool MoveNext() {
      if (!Monitor.TryEnter(reading)) {
        throw new InvalidOperationException(
            "another thread reads this generation");
      }
      try {
        reader = Thread.CurrentThread;
        Piece piece = end == null ? Next() : null;
        current = piece;
        if (piece == null && !endReported) {
          endReported = true;
          if (end.Error != null) {
            cancel.ThrowIfCancellationRequested();
            throw end.Error;
          }
        }
        return piece != null;
      } finally {
        Monitor.Exit(reading);
      }
    }

    /// <summary>Always throws NotSupportedException.</summary>
    public void Reset() {
      throw new NotSupportedException("a generation can be read once");
    }

    /// <summary>Waits for the end, and returns the text of all pieces not yet
    /// read.</summary>
    public string Text() {
      var text = new StringBuilder();
      while (MoveNext()) {
        text.Append(current.Text);
      }
      return text.ToString();
    }

    /// <summary>How it ended, with times and counts; null before the
    /// end.</summary>
    public Report Report => end?.Report;

    /// <summary>{@rc rc_request_cancel}</summary>
    public void Cancel() {
      native.request_cancel(handle);
    }

    /// <summary>Cancels and waits for the end; drops the pieces not yet
    /// read.</summary>
    public override void Dispose() {
      if (IsClosed) {
        return;
      }
      if (end == null) {
        Stop(handle);
      }
      lock (reading) {
        while (end == null && !IsClosed) {
          Next();
        }
        endReported = true;
      }
      registration.Dispose();
      base.Dispose();
    }

    /// Whether the calling thread has left it.
    internal bool IsLeft =>
        reader == Thread.CurrentThread && end == null && !IsClosed;

    /// Ends the generation, and returns when the session is free of it.
    internal void Leave() {
      Cancel();
      native.request_wait(handle, -1);
    }

    internal static void Stop(request started) {
      try {
        native.request_cancel(started);
      } catch (ClosedException) {
        // The request ended by itself at the same time.
      }
    }

    /// Returns the next piece; or null, and sets `end`.
    private Piece Next() {
      while (true) {
        native.request_next(handle, SliceMs, out Event.Raw raw);
        Event next = Event.Read(raw);
        if (next == null) {
          continue;
        }
        if (!next.IsEnd) {
          return (Piece)next.Part;
        }
        end = next;
        registration.Dispose();
        return null;
      }
    }
  }
}
