package runcible;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Receives the events of requests that do not block a thread. One daemon thread
 * takes them out and hands them to the receivers; no thread of the library runs
 * Java.
 */
final class Mailbox {
  /**
   * Receives the events of a request, on the mailbox's thread: must not block.
   */
  interface Receiver {
    void take(Event event);

    /** Receives the failure when events were lost; no more events follow. */
    void fail(Throwable cause);
  }

  /** Starts a request of a mailbox with a key, and returns its address. */
  interface Beginning {
    Object begin(mailbox box, long key);
  }

  /** The default executor of user code: the common pool. */
  static final Executor EXECUTOR = new CompletableFuture<>().defaultExecutor();

  private static Mailbox current;

  private final mailbox box = new mailbox((Long) Native.mailbox_create());
  private final Map<Long, Receiver> receivers = new ConcurrentHashMap<>();
  private final AtomicLong lastKey = new AtomicLong();

  private Mailbox() {
    Thread thread = new Thread(this::run, "runcible events");
    thread.setDaemon(true);
    thread.start();
  }

  private static synchronized Mailbox current() {
    if (current == null) {
      current = new Mailbox();
    }
    return current;
  }

  private static synchronized void forget(Mailbox failed) {
    if (current == failed) {
      current = null;
    }
  }

  /** Starts a request whose events go to the receiver. */
  static request start(Beginning begin, Receiver receiver) {
    Mailbox mailbox = current();
    Long key = mailbox.lastKey.incrementAndGet();
    mailbox.receivers.put(key, receiver);
    try {
      return new request((Long) begin.begin(mailbox.box, key));
    } catch (Throwable failure) {
      mailbox.receivers.remove(key);
      throw failure;
    }
  }

  private void run() {
    try {
      while (true) {
        Native.mailbox_wait(box, -1);
        for (Event event : (Event[]) Native.mailbox_take(box)) {
          Receiver receiver = event.isEnd()
              ? receivers.remove(event.key())
              : receivers.get(event.key());
          receiver.take(event);
        }
      }
    } catch (Throwable lost) {
      // All streams are incomplete now; the next request makes a new mailbox.
      forget(this);
      box.close();
      receivers.values().forEach(receiver -> receiver.fail(lost));
    }
  }
}
