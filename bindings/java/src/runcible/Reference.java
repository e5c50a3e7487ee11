package runcible;

/**
 * One reference to an object of the library, with the calls that use it
 * counted: it is given back when it is closed and the last of them has
 * returned. What SWIG makes of handles are subclasses.
 */
abstract class Reference {
  private static final long CLOSED = -1;

  private final long address;
  private boolean closed;
  /** The calls under way, and one as long as it is open. */
  private int users = 1;

  Reference(long address) {
    this.address = address;
  }

  abstract void free(long address);

  /** The address for a call, which then must release it; 0 of null. */
  static long acquire(Reference reference) {
    if (reference == null) {
      return 0;
    }
    synchronized (reference) {
      if (reference.closed) {
        return CLOSED;
      }
      ++reference.users;
      return reference.address;
    }
  }

  /** What was acquired, unless it was closed before. */
  static long opened(Reference reference, long acquired) {
    if (acquired == CLOSED) {
      throw new RuncibleException.Closed(
          "this " + reference.getClass().getSimpleName() + " is closed", null);
    }
    return acquired;
  }

  static void release(Reference reference, long acquired) {
    if (acquired != 0 && acquired != CLOSED) {
      reference.leave();
    }
  }

  final void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    leave();
  }

  final synchronized boolean isClosed() {
    return closed;
  }

  private void leave() {
    synchronized (this) {
      if (--users > 0) {
        return;
      }
    }
    free(address);
  }
}
