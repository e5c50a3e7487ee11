using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using Runcible.Native;

namespace Runcible {
  /// <summary>What a request gives as it comes, for await foreach; no thread
  /// waits for it. See PieceStream and AnswerStream.</summary>
  public abstract class PartStream<T> : IAsyncEnumerable<T> where T : Part {
    private PartChannel<T> started;

    internal PartStream() {
    }

    /// <summary>Starts it.</summary>
    public IAsyncEnumerator<T> GetAsyncEnumerator(
        CancellationToken cancel = default(CancellationToken)) {
      var made = new PartChannel<T>(cancel);
      if (Interlocked.CompareExchange(ref started, made, null) != null) {
        throw new InvalidOperationException("a stream can be read once");
      }
      Start(made);
      return new PartEnumerator<T>(made);
    }

    /// <summary>Has each part dealt with, one after the other; for compilers
    /// that lack await foreach.</summary>
    public async Task ForEachAsync(
        Action<T> deal,
        CancellationToken cancel = default(CancellationToken)) {
      IAsyncEnumerator<T> parts = GetAsyncEnumerator(cancel);
      try {
        while (await parts.MoveNextAsync().ConfigureAwait(false)) {
          deal(parts.Current);
        }
      } finally {
        await parts.DisposeAsync().ConfigureAwait(false);
      }
    }

    /// <summary>Asks it to end: CancelledException after what has
    /// come.</summary>
    public void Cancel() {
      Volatile.Read(ref started)?.Stop();
    }

    /// <summary>How it ended, and times and counts; null before the
    /// end.</summary>
    public Report Report => Volatile.Read(ref started)?.Report;

    /// Has the channel start the request.
    internal abstract void Start(PartChannel<T> channel);
  }

  /// The reader of one stream. The mailbox knows the channel alone, so that a
  /// reader who is lost can be collected.
  internal sealed class PartEnumerator<T> : IAsyncEnumerator<T>
      where T : Part {
    private readonly PartChannel<T> channel;

    internal PartEnumerator(PartChannel<T> channel) {
      this.channel = channel;
    }

    ~PartEnumerator() {
      channel.Stop();
    }

    public T Current => channel.Current;

    public ValueTask<bool> MoveNextAsync() => channel.MoveNextAsync();

    public ValueTask DisposeAsync() {
      GC.SuppressFinalize(this);
      return channel.DisposeAsync();
    }
  }
}
