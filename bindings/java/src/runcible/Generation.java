package runcible;

import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * The pieces of a text as they come; iterating blocks.
 *
 * <p>An end that is no success is thrown after the last piece, once, such as
 * {@link RuncibleException.Deadline}. Closing it cancels the generation and waits
 * for its end, so that the session can be used at once. A loop that is left early
 * does not close it: the generation is then ended when the thread that read it
 * uses the session next, or some time after the last reference to it is lost; who
 * reads on gets {@link RuncibleException.Cancelled}. Interrupting the thread that
 * waits ends the generation and throws {@link RuncibleException.Cancelled}; the
 * thread stays interrupted.
 */
public final class Generation extends Handle
    implements Iterable<Piece>, Iterator<Piece> {
  /** How often a thread that waits looks whether it was interrupted. */
  private static final int INTERRUPTS_MS = 100;

  private final request handle;
  private final Use use;
  /** Of who reads; the library wants one at a time. */
  private final ReentrantLock reading = new ReentrantLock();
  private Piece next;
  private boolean told;
  private volatile Event end;

  Generation(request handle) {
    this(handle, new Use(handle));
  }

  private Generation(request handle, Use use) {
    super(handle, use::close);
    this.handle = handle;
    this.use = use;
    use.of(this);
  }

  /** For the session. */
  Use use() {
    return use;
  }

  /** This object: the pieces can be read once. */
  @Override
  public Iterator<Piece> iterator() {
    return this;
  }

  @Override
  public boolean hasNext() {
    if (!reading.tryLock()) {
      throw new IllegalStateException("another thread reads this generation");
    }
    use.begin();
    try {
      if (next == null && end == null) {
        await();
      }
      if (next == null && !told) {
        told = true;
        if (end.error() != null) {
          throw end.error();
        }
      }
      return next != null;
    } finally {
      use.pause();
      reading.unlock();
    }
  }

  @Override
  public Piece next() {
    if (!reading.tryLock()) {
      throw new IllegalStateException("another thread reads this generation");
    }
    try {
      if (!hasNext()) {
        throw new NoSuchElementException("the generation has ended");
      }
      Piece piece = next;
      next = null;
      return piece;
    } finally {
      reading.unlock();
    }
  }

  /** The pieces as a stream, which closes the generation when it is closed. */
  public Stream<Piece> pieces() {
    int traits = Spliterator.ORDERED | Spliterator.NONNULL;
    return StreamSupport.stream(
        Spliterators.spliteratorUnknownSize(this, traits), false)
        .onClose(this::close);
  }

  /** Waits for the end; the text of all pieces that were not read. */
  public String text() {
    StringBuilder text = new StringBuilder();
    forEachRemaining(text::append);
    return text.toString();
  }

  /** How it ended, and times and counts; empty before the end. */
  public Optional<Report> report() {
    return Optional.ofNullable(end).map(Event::report);
  }

  /** {@rc rc_request_cancel} */
  public void cancel() {
    Native.request_cancel(handle);
  }

  /** Cancels and waits for the end; pieces that were not read are dropped. */
  @Override
  public void close() {
    if (isClosed()) {
      return;
    }
    if (end == null) {
      cancel();
    }
    reading.lock();
    try {
      drain();
    } finally {
      reading.unlock();
    }
    super.close();
  }

  /** Waits for the end. */
  private void drain() {
    while (end == null) {
      take((Event) Native.request_next(handle, -1));
    }
    told = true;
    next = null;
  }

  /** Sets what comes, `next` or `end`. */
  private void await() {
    Event event = null;
    while (event == null) {
      if (Thread.currentThread().isInterrupted()) {
        cancel();
        drain();
        throw new RuncibleException.Cancelled(
            "the thread that waited for a piece was interrupted",
            end.report());
      }
      event = (Event) Native.request_next(handle, INTERRUPTS_MS);
    }
    take(event);
  }

  private void take(Event event) {
    if (event.isEnd()) {
      end = event;
    } else {
      next = (Piece) event.part();
    }
  }
}
