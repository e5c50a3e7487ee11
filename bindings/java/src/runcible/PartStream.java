package runcible;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/**
 * The parts of a request as they come, for one subscriber; see
 * {@link PieceStream} and {@link AnswerStream}.
 *
 * <p>The subscriber is called on an executor, by default that of {@link
 * CompletableFuture}, one call after the other, and receives only as many parts
 * as it has requested. Other parts wait in memory: the engine does not wait for
 * a subscriber, and a subscriber does not hold up other streams. An end without
 * success calls onError after the last part. Cancelling the subscription
 * cancels the request; after that only {@link #report} completes.
 *
 * @param <T> the type of the parts
 */
public abstract class PartStream<T extends Part> implements Flow.Publisher<T> {
  private final Class<T> kind;
  private final Supplier<Mailbox.Beginning> beginning;
  private final AtomicReference<PartSubscription<T>> subscription;
  private final CompletableFuture<Report> report;
  private final Executor executor;

  /** `beginning` ends all requests of the session that would be in the way. */
  PartStream(Class<T> kind, Supplier<Mailbox.Beginning> beginning) {
    this.kind = kind;
    this.beginning = beginning;
    this.executor = Mailbox.EXECUTOR;
    this.subscription = new AtomicReference<>();
    this.report = new CompletableFuture<>();
  }

  /** The same stream on another executor. */
  PartStream(PartStream<T> other, Executor executor) {
    this.kind = other.kind;
    this.beginning = other.beginning;
    this.executor = Objects.requireNonNull(executor);
    this.subscription = other.subscription;
    this.report = other.report;
  }

  @Override
  public void subscribe(Flow.Subscriber<? super T> subscriber) {
    Objects.requireNonNull(subscriber);
    PartSubscription<T> made =
        new PartSubscription<>(kind, subscriber, executor, report);
    if (subscription.compareAndSet(null, made)) {
      made.start(beginning.get());
    } else {
      new PartSubscription<>(
          kind, subscriber, executor, new CompletableFuture<>())
          .refuse(new IllegalStateException(
              "this stream has a subscriber already"));
    }
  }

  /**
   * Asks the request to end; the subscriber gets
   * {@link RuncibleException.Cancelled} after the parts that have come.
   */
  public void cancel() {
    PartSubscription<T> started = subscription.get();
    if (started != null) {
      started.stop();
    }
  }

  /**
   * Returns how the request ended, with times and counts. Completes when the
   * session can be used again, also after a subscription was cancelled. Fails
   * if nothing was started.
   */
  public CompletableFuture<Report> report() {
    return report.copy();
  }
}
