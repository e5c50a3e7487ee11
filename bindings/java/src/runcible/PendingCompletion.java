package runcible;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The future of a text; if it ends otherwise the request is cancelled. */
final class PendingCompletion extends CompletableFuture<Completion>
    implements Mailbox.Receiver {
  private final StringBuilder text = new StringBuilder();
  private final List<Integer> tokens = new ArrayList<>();

  void start(session session, GenerateOptions options) {
    request started = Mailbox.start(PieceStream.of(session, options), this);
    whenComplete((completion, failure) -> {
      if (completion == null) {
        Native.request_cancel(started);
      }
      started.close();
    });
  }

  /** What depends on it is a plain future. */
  @Override
  public <U> CompletableFuture<U> newIncompleteFuture() {
    return new CompletableFuture<>();
  }

  @Override
  public void take(Event event) {
    if (!event.isEnd()) {
      Piece piece = (Piece) event.part();
      text.append(piece);
      tokens.addAll(piece.tokens());
    } else if (event.error() != null) {
      fail(event.error());
    } else {
      Completion completion = new Completion(
          text.toString(), List.copyOf(tokens), event.report());
      defaultExecutor().execute(() -> complete(completion));
    }
  }

  @Override
  public void fail(Throwable cause) {
    defaultExecutor().execute(() -> completeExceptionally(cause));
  }
}
