package runcible;

import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One subscriber of a {@link PartStream}. `signals` counts all that happens:
 * the mailbox's thread adds an event, or the subscriber requests or cancels.
 * The first signal makes the executor run this object, which goes on until it
 * has seen all signals. So it runs on one thread at a time.
 */
final class PartSubscription<T extends Part>
    implements Flow.Subscription, Mailbox.Receiver, Runnable {
  private final Class<T> kind;
  private final Flow.Subscriber<? super T> subscriber;
  private final CompletableFuture<Report> report;
  private final Queue<Event> events = new ConcurrentLinkedQueue<>();
  private final AtomicLong demand = new AtomicLong();
  /** Begins with one signal, for the start. */
  private final AtomicInteger signals = new AtomicInteger(1);
  private volatile Executor executor;
  private volatile request request;
  private volatile boolean stopping;
  private volatile Throwable failure;
  /** Set after a failure: no end will come. */
  private volatile boolean lost;
  /** Set when the subscriber receives no more calls. */
  private volatile boolean cancelled;
  private boolean announced;
  private boolean done;

  PartSubscription(
      Class<T> kind, Flow.Subscriber<? super T> subscriber, Executor executor,
      CompletableFuture<Report> report) {
    this.kind = kind;
    this.subscriber = subscriber;
    this.executor = executor;
    this.report = report;
  }

  void start(Mailbox.Beginning begin) {
    try {
      request = Mailbox.start(begin, this);
      if (stopping) {
        stop();
      }
      execute();
    } catch (Throwable refused) {
      refuse(refused);
    }
  }

  /** Reports a failure to the subscriber in place of a start. */
  void refuse(Throwable cause) {
    failure = cause;
    lost = true;
    execute();
  }

  /** Asks the generation to end. */
  void stop() {
    stopping = true;
    request started = request;
    if (started != null) {
      try {
        Native.request_cancel(started);
      } catch (RuncibleException.Closed ended) {
        // The request ended by itself at the same time.
      }
    }
  }

  @Override
  public void request(long count) {
    if (count <= 0) {
      failure = new IllegalArgumentException(
          "a subscriber requested " + count + " parts, must be at least 1");
      stop();
    } else {
      demand.accumulateAndGet(count, PartSubscription::sum);
    }
    signal();
  }

  @Override
  public void cancel() {
    cancelled = true;
    stop();
    signal();
  }

  @Override
  public void take(Event event) {
    events.add(event);
    signal();
  }

  @Override
  public void fail(Throwable cause) {
    failure = cause;
    lost = true;
    signal();
  }

  @Override
  public void run() {
    int seen = 1;
    while (seen != 0) {
      try {
        deliver();
      } catch (Throwable thrown) {
        // Thrown by the subscriber, which must not throw; it gets no more
        // calls.
        cancelled = true;
        stop();
        Thread thread = Thread.currentThread();
        thread.getUncaughtExceptionHandler().uncaughtException(thread, thrown);
      }
      seen = signals.addAndGet(-seen);
    }
  }

  private static long sum(long a, long b) {
    return a + b < 0 ? Long.MAX_VALUE : a + b;
  }

  private void signal() {
    if (signals.getAndIncrement() == 0) {
      execute();
    }
  }

  private void execute() {
    try {
      executor.execute(this);
    } catch (RuntimeException refused) {
      // The executor does not run the subscriber any more. The future of the
      // report must still complete.
      cancelled = true;
      stop();
      executor = Mailbox.EXECUTOR;
      executor.execute(this);
    }
  }

  private void deliver() {
    if (!announced) {
      announced = true;
      if (!cancelled) {
        subscriber.onSubscribe(this);
      }
    }
    while (!done) {
      if (failure != null && !cancelled) {
        cancelled = true;
        subscriber.onError(failure);
      }
      Event event = events.peek();
      if (event == null) {
        if (lost) {
          done = true;
          report.completeExceptionally(failure);
        }
        return;
      }
      if (event.isEnd()) {
        finish(event);
      } else if (cancelled) {
        events.remove();
      } else if (demand.get() > 0) {
        events.remove();
        demand.updateAndGet(d -> d == Long.MAX_VALUE ? d : d - 1);
        subscriber.onNext(kind.cast(event.part()));
      } else {
        return;
      }
    }
  }

  private void finish(Event end) {
    done = true;
    events.clear();
    request.close();
    report.complete(end.report());
    if (cancelled) {
      return;
    }
    cancelled = true;
    if (end.error() == null) {
      subscriber.onComplete();
    } else {
      subscriber.onError(end.error());
    }
  }
}
