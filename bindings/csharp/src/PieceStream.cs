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
  /// of the enumerator, as await foreach does when it is left, and, some time
  /// later, losing the last reference to it.</remarks>
  public sealed class PieceStream : IAsyncEnumerable<Piece> {
    private readonly session session;
    private readonly string prompt;
    private readonly GenerateOptions options;
    private PieceChannel started;

    internal PieceStream(
        session session, string prompt, GenerateOptions options) {
      this.session = session;
      this.prompt = prompt;
      this.options = options;
    }

    /// <summary>Starts the generation.</summary>
    public IAsyncEnumerator<Piece> GetAsyncEnumerator(
        CancellationToken cancel = default(CancellationToken)) {
      var made = new PieceChannel(cancel);
      if (Interlocked.CompareExchange(ref started, made, null) != null) {
        throw new InvalidOperationException("a stream can be read once");
      }
      using (generate_options given = options.Make(prompt)) {
        made.Start(session, given);
      }
      return new PieceEnumerator(made);
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

  /// The reader of one stream. The mailbox knows the channel alone, so that a
  /// reader who is lost can be collected.
  internal sealed class PieceEnumerator : IAsyncEnumerator<Piece> {
    private readonly PieceChannel channel;

    internal PieceEnumerator(PieceChannel channel) {
      this.channel = channel;
    }

    ~PieceEnumerator() {
      channel.Stop();
    }

    public Piece Current => channel.Current;

    public ValueTask<bool> MoveNextAsync() => channel.MoveNextAsync();

    public ValueTask DisposeAsync() {
      GC.SuppressFinalize(this);
      return channel.DisposeAsync();
    }
  }
}
