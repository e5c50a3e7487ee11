package runcible;

import java.lang.ref.WeakReference;

/** One request of a session, for the session and the collector. */
final class Use {
  private final request handle;
  /** Cleared when the generation is unreachable. */
  private WeakReference<Generation> generation;
  /** The thread that read last. */
  private volatile WeakReference<Thread> reader = new WeakReference<>(null);
  /** Whether a thread waits for an event: it has not left the generation. */
  private volatile boolean reading;

  Use(request handle) {
    this.handle = handle;
  }

  void of(Generation made) {
    generation = new WeakReference<>(made);
  }

  /** Notes that the calling thread reads. */
  void begin() {
    if (reader.get() != Thread.currentThread()) {
      reader = new WeakReference<>(Thread.currentThread());
    }
    reading = true;
  }

  void pause() {
    reading = false;
  }

  /** Returns whether the calling thread has left it, or it is unreachable. */
  boolean isAbandoned() {
    return generation.get() == null
        || (!reading && reader.get() == Thread.currentThread());
  }

  /** Asks the request to end. */
  synchronized void cancel() {
    if (!handle.isClosed()) {
      Native.request_cancel(handle);
    }
  }

  /** Ends the request, and returns when the session is free of it. */
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

  /** Ends the request and releases it. */
  synchronized void close() {
    try {
      end();
    } catch (RuncibleException.Closed inChild) {
      // In the child of a fork no request runs.
    } finally {
      handle.close();
    }
  }
}
