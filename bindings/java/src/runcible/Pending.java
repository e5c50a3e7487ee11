package runcible;

import java.util.concurrent.CompletableFuture;

/**
 * The future of the result of a request; if it completes otherwise, the request
 * is cancelled.
 */
abstract class Pending<T> extends CompletableFuture<T>
    implements Mailbox.Receiver {
  final StringBuilder text = new StringBuilder();

  final void start(Mailbox.Beginning begin) {
    request started = Mailbox.start(begin, this);
    whenComplete((made, failure) -> {
      if (made == null) {
        Native.request_cancel(started);
      }
      started.close();
    });
  }

  abstract void add(Part part);

  /** Returns the result made of all parts. */
  abstract T made(Report report);

  /** Makes dependent futures plain ones. */
  @Override
  public <U> CompletableFuture<U> newIncompleteFuture() {
    return new CompletableFuture<>();
  }

  @Override
  public void take(Event event) {
    if (!event.isEnd()) {
      add(event.part());
    } else if (event.error() != null) {
      fail(event.error());
    } else {
      T made = made(event.report());
      defaultExecutor().execute(() -> complete(made));
    }
  }

  @Override
  public void fail(Throwable cause) {
    defaultExecutor().execute(() -> completeExceptionally(cause));
  }
}
