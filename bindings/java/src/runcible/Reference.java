package runcible;

/**
 * A reference to an object of the library that counts the calls that use it. It
 * is released when it is closed and the last of these calls has returned. The
 * handle classes that SWIG generates are subclasses.
 */
abstract class Reference {
  private static final long CLOSED = -1;

  private final long address;
  private boolean closed;
  /**
   * The number of calls under way, and one more while the reference is open.
   */
  private int users = 1;

  Reference(long address) {
    this.address = address;
  }

  abstract void free(long address);

  /** Returns the address for a call, which must release it; 0 for null. */
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

  /** Returns `acquired`, or throws if the reference was closed before. */
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
