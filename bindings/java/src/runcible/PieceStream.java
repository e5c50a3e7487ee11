package runcible;

import java.util.concurrent.Executor;

/**
 * The pieces of a text as they come, for one subscriber. The subscription
 * starts the generation.
 */
public final class PieceStream extends PartStream<Piece> {
  PieceStream(session session, GenerateOptions options, Uses uses) {
    super(Piece.class, () -> {
      uses.cancelLeft();
      return of(session, options);
    });
  }

  private PieceStream(PieceStream other, Executor executor) {
    super(other, executor);
  }

  /** The same stream, whose subscriber is called on another executor. */
  public PieceStream on(Executor other) {
    return new PieceStream(this, other);
  }

  /** Returns the start of a generation. */
  static Mailbox.Beginning of(session session, GenerateOptions options) {
    return (box, key) -> {
      try (generate_options made = options.make()) {
        return Native.mailbox_generate(box, session, made, key);
      }
    };
  }
}
