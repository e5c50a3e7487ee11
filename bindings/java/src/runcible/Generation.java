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
 * {@link RuncibleException.Deadline} and {@link RuncibleException.ContextFull}.
 * Closing it cancels the generation and waits for its end, so that the session
 * can be used at once; losing the last reference to it cancels as well, some
 * time later. Interrupting the thread that waits cancels and throws
 * {@link RuncibleException.Cancelled}; the thread stays interrupted.
 */
public final class Generation extends Handle
    implements Iterable<Piece>, Iterator<Piece> {
  /** How often a thread that waits looks whether it was interrupted. */
  private static final int INTERRUPTS_MS = 100;

  private final request handle;
  /** Of who reads; the library wants one at a time. */
  private final ReentrantLock reading = new ReentrantLock();
  private Piece next;
  private boolean told;
  private volatile Event end;

  Generation(request handle) {
    super(handle);
    this.handle = handle;
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
    try {
      if (next == null && end == null) {
        await(true);
      }
      if (next == null && !told) {
        told = true;
        if (end.error() != null) {
          throw end.error();
        }
      }
      return next != null;
    } finally {
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
      while (end == null) {
        await(false);
      }
      told = true;
      next = null;
    } finally {
      reading.unlock();
    }
    super.close();
  }

  /** Sets what comes, `next` or `end`. */
  private void await(boolean interruptible) {
    Event event = null;
    while (event == null) {
      if (interruptible && Thread.currentThread().isInterrupted()) {
        cancel();
        throw new RuncibleException.Cancelled(
            "the thread that waited for a piece was interrupted");
      }
      event = (Event) Native.request_next(handle, INTERRUPTS_MS);
    }
    if (event.isEnd()) {
      end = event;
    } else {
      next = event.piece();
    }
  }
}
