package runcible;

import java.lang.ref.Cleaner;

/**
 * Owns an object of the library until it is closed or collected.
 *
 * <p>Handles may be closed in any order and by any thread: an object keeps the
 * objects that it needs, and calls under way go on to their end. Using a closed
 * handle throws {@link RuncibleException.Closed}. A handle that is never closed
 * is released some time after the collector has found it.
 */
public abstract class Handle implements AutoCloseable {
  static final Cleaner CLEANER = Cleaner.create();

  private final Reference reference;
  private final Cleaner.Cleanable cleanable;

  Handle(Reference reference) {
    this.reference = reference;
    this.cleanable = CLEANER.register(this, reference::close);
  }

  /** The same with a `close` that does more than close the reference. */
  Handle(Reference reference, Runnable close) {
    this.reference = reference;
    this.cleanable = CLEANER.register(this, close);
  }

  /** Releases the object; closing again does nothing. */
  @Override
  public void close() {
    cleanable.clean();
  }

  /** Returns whether the handle was closed. */
  public final boolean isClosed() {
    return reference.isClosed();
  }
}
