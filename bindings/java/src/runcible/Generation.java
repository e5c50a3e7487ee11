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
 * <p>An end without success, such as {@link RuncibleException.Deadline}, is
 * thrown once, after the last piece. Closing the generation cancels it and
 * waits for its end, so that the session can be used at once. A loop that is
 * left early does not close it: the generation then ends when the thread that
 * read it uses the session next, or some time after the last reference to it is
 * lost; reading on throws {@link RuncibleException.Cancelled}. Interrupting the
 * waiting thread ends the generation and throws {@link
 * RuncibleException.Cancelled}; the thread stays interrupted.
 */
public final class Generation extends Handle
    implements Iterable<Piece>, Iterator<Piece> {
  /** How often a waiting thread checks for interrupts. */
  private static final int INTERRUPTS_MS = 100;

  private final request handle;
  private final Use use;
  /** Held while reading; the library allows one reader at a time. */
  private final ReentrantLock reading = new ReentrantLock();
  private Piece next;
  private boolean endReported;
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

  /** Returns the entry for the list of the session. */
  Use use() {
    return use;
  }

  /** Returns this object: the pieces can be read once. */
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
      if (next == null && !endReported) {
        endReported = true;
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

  /** Returns the pieces as a stream; closing it closes the generation. */
  public Stream<Piece> pieces() {
    int traits = Spliterator.ORDERED | Spliterator.NONNULL;
    return StreamSupport.stream(
        Spliterators.spliteratorUnknownSize(this, traits), false)
        .onClose(this::close);
  }

  /** Waits for the end, and returns the text of all pieces not yet read. */
  public String text() {
    StringBuilder text = new StringBuilder();
    forEachRemaining(text::append);
    return text.toString();
  }

  /** Returns how it ended, with times and counts; empty before the end. */
  public Optional<Report> report() {
    return Optional.ofNullable(end).map(Event::report);
  }

  /** {@rc rc_request_cancel} */
  public void cancel() {
    Native.request_cancel(handle);
  }

  /** Cancels and waits for the end; drops the pieces not yet read. */
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
    endReported = true;
    next = null;
  }

  /** Waits for an event and sets `next` or `end`. */
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
