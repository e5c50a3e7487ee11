using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using Runcible.Native;

namespace Runcible {
  /// <summary>The parts of a request as they come, for await foreach; no thread
  /// waits for them. See PieceStream and AnswerStream.</summary>
  public abstract class PartStream<T> : IAsyncEnumerable<T> where T : Part {
    private PartChannel<T> started;

    internal PartStream() {
    }

    /// <summary>Starts the request.</summary>
    public IAsyncEnumerator<T> GetAsyncEnumerator(
        CancellationToken cancel = default(CancellationToken)) {
      var made = new PartChannel<T>(cancel);
      if (Interlocked.CompareExchange(ref started, made, null) != null) {
        throw new InvalidOperationException("a stream can be read once");
      }
      Start(made);
      return new PartEnumerator<T>(made);
    }

    /// <summary>Calls a function with each part, one after the other; for
    /// compilers without await foreach.</summary>
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

    /// <summary>Asks the request to end. CancelledException is thrown after the
    /// parts that have come.</summary>
    public void Cancel() {
      Volatile.Read(ref started)?.Stop();
    }

    /// <summary>How it ended, with times and counts; null before the
    /// end.</summary>
    public Report Report => Volatile.Read(ref started)?.Report;

    /// Makes the channel start the request.
    internal abstract void Start(PartChannel<T> channel);
  }

  /// The reader of one stream. The mailbox refers to the channel alone, so that
  /// an unreachable reader can be collected.
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
