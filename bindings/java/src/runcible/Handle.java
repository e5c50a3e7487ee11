package runcible;

import java.lang.ref.Cleaner;

/**
 * Owns an object of the library until it is closed, or collected.
 *
 * <p>Handles may be closed in any order and by any thread: what needs another
 * handle keeps it, and calls under way go on to their end. Using a closed one
 * throws {@link RuncibleException.Closed}. What is never closed is given back
 * after the collector has found it, some time later.
 */
public abstract class Handle implements AutoCloseable {
  static final Cleaner CLEANER = Cleaner.create();

  private final Reference reference;
  private final Cleaner.Cleanable cleanable;

  Handle(Reference reference) {
    this.reference = reference;
    this.cleanable = CLEANER.register(this, reference::close);
  }

  /** The same for what takes more than closing the reference. */
  Handle(Reference reference, Runnable close) {
    this.reference = reference;
    this.cleanable = CLEANER.register(this, close);
  }

  /** Gives the object back; more than once does nothing. */
  @Override
  public void close() {
    cleanable.clean();
  }

  /** Whether it was closed. */
  public final boolean isClosed() {
    return reference.isClosed();
  }
}
