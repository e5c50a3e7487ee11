using Runcible.Native;

namespace Runcible {
  /// <summary>The pieces of a text as they come, for await foreach; no thread
  /// waits for them.</summary>
  /// <remarks>The enumerator, of which there can be one, starts the generation.
  /// Pieces that were not read wait in memory: the engine does not wait for a
  /// reader. An end without success is thrown after the last piece. Cancelling
  /// the token ends the generation, and OperationCanceledException is thrown
  /// when it has ended. Disposing of the enumerator, as await foreach does when
  /// it is left, ends it too, and so does, some time later, losing the last
  /// reference to it.</remarks>
  public sealed class PieceStream : PartStream<Piece> {
    private readonly session session;
    private readonly string prompt;
    private readonly GenerateOptions options;

    internal PieceStream(
        session session, string prompt, GenerateOptions options) {
      this.session = session;
      this.prompt = prompt;
      this.options = options;
    }

    internal override void Start(PartChannel<Piece> channel) {
      using (generate_options given = options.Make(prompt)) {
        channel.Start((box, key) => {
          native.mailbox_generate(box, session, given, key, out var started);
          return started;
        });
      }
    }
  }
}
