package runcible;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The pieces of a text as they come, for one subscriber, whose subscription
 * starts the generation.
 *
 * <p>The subscriber is called on an executor, by default that of
 * {@link CompletableFuture}, one call after the other, and gets only as many
 * pieces as it has requested. What has come and was not requested waits in
 * memory: the engine does not wait for a subscriber, and other streams are not
 * held up by one. An end that is no success is told by onError after the last
 * piece. Cancelling the subscription cancels the generation; nothing is told
 * then but {@link #report}.
 */
public final class PieceStream implements Flow.Publisher<Piece> {
  private final session session;
  private final GenerateOptions options;
  private final Uses uses;
  private final Executor executor;
  private final AtomicReference<PieceSubscription> subscription;
  private final CompletableFuture<Report> report;

  PieceStream(session session, GenerateOptions options, Uses uses) {
    this.session = session;
    this.options = options;
    this.uses = uses;
    this.executor = Mailbox.EXECUTOR;
    this.subscription = new AtomicReference<>();
    this.report = new CompletableFuture<>();
  }

  private PieceStream(PieceStream other, Executor executor) {
    this.session = other.session;
    this.options = other.options;
    this.uses = other.uses;
    this.executor = executor;
    this.subscription = other.subscription;
    this.report = other.report;
  }

  /** The same stream, whose subscriber is called on another executor. */
  public PieceStream on(Executor other) {
    return new PieceStream(this, Objects.requireNonNull(other));
  }

  @Override
  public void subscribe(Flow.Subscriber<? super Piece> subscriber) {
    Objects.requireNonNull(subscriber);
    PieceSubscription made =
        new PieceSubscription(subscriber, executor, report);
    if (subscription.compareAndSet(null, made)) {
      uses.cancelLeft();
      made.start(session, options);
    } else {
      new PieceSubscription(subscriber, executor, new CompletableFuture<>())
          .refuse(new IllegalStateException(
              "this stream has a subscriber already"));
    }
  }

  /**
   * Asks the generation to end; the subscriber gets
   * {@link RuncibleException.Cancelled} after the pieces that have come.
   */
  public void cancel() {
    PieceSubscription started = subscription.get();
    if (started != null) {
      started.stop();
    }
  }

  /**
   * How it ended, and times and counts: when the session can be used again,
   * also after a subscription was cancelled. Fails if nothing was started.
   */
  public CompletableFuture<Report> report() {
    return report.copy();
  }
}
