package runcible;

import java.lang.ref.WeakReference;

/** One request of a session, as the session and the collector see it. */
final class Use {
  private final request handle;
  /** Cleared when nobody can read it any more. */
  private WeakReference<Generation> generation;
  /** Who read last. */
  private volatile WeakReference<Thread> reader = new WeakReference<>(null);
  /** Waiting for an event is no leaving. */
  private volatile boolean reading;

  Use(request handle) {
    this.handle = handle;
  }

  void of(Generation made) {
    generation = new WeakReference<>(made);
  }

  /** Notes that the thread that calls it reads. */
  void begin() {
    if (reader.get() != Thread.currentThread()) {
      reader = new WeakReference<>(Thread.currentThread());
    }
    reading = true;
  }

  void pause() {
    reading = false;
  }

  /** Whether the thread that calls it has left it, or nobody can read it. */
  boolean left() {
    return generation.get() == null
        || (!reading && reader.get() == Thread.currentThread());
  }

  /** Asks it to end. */
  synchronized void cancel() {
    if (!handle.isClosed()) {
      Native.request_cancel(handle);
    }
  }

  /** Ends it, and returns when the session is free of it. */
  synchronized void end() {
    if (!handle.isClosed()) {
      Native.request_cancel(handle);
      Native.request_wait(handle, -1);
    }
  }

  boolean ended() {
    try {
      Native.request_wait(handle, 0);
      return true;
    } catch (RuncibleException.Timeout goesOn) {
      return false;
    } catch (RuncibleException.Closed ended) {
      return true;
    }
  }

  /** The same, and gives the request back. */
  synchronized void close() {
    try {
      end();
    } catch (RuncibleException.Closed inChild) {
      // Of a fork, where nothing runs.
    } finally {
      handle.close();
    }
  }
}
