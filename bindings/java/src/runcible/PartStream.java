package runcible;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/**
 * What a request gives as it comes, for one subscriber; see {@link PieceStream}
 * and {@link AnswerStream}.
 *
 * <p>The subscriber is called on an executor, by default that of
 * {@link CompletableFuture}, one call after the other, and gets only as many
 * parts as it has requested. What has come and was not requested waits in
 * memory: the engine does not wait for a subscriber, and other streams are not
 * held up by one. An end that is no success is told by onError after the last
 * part. Cancelling the subscription cancels the request; nothing is told then
 * but {@link #report}.
 *
 * @param <T> what the subscriber gets
 */
public abstract class PartStream<T extends Part> implements Flow.Publisher<T> {
  private final Class<T> kind;
  private final Supplier<Mailbox.Beginning> beginning;
  private final AtomicReference<PartSubscription<T>> subscription;
  private final CompletableFuture<Report> report;
  private final Executor executor;

  /** `beginning` lets nothing on the session be in the way of the request. */
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
   * How it ended, and times and counts: when the session can be used again,
   * also after a subscription was cancelled. Fails if nothing was started.
   */
  public CompletableFuture<Report> report() {
    return report.copy();
  }
}
