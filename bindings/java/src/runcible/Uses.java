package runcible;

import java.util.ArrayList;
import java.util.List;

/**
 * The requests of a session that are being read. A for-each loop does not
 * report that it was left. But a thread that reads a request and then calls
 * something else of the same session has left it; so the request is ended
 * first.
 */
final class Uses {
  private final List<Use> uses = new ArrayList<>();

  synchronized void add(Use use) {
    uses.removeIf(Use::ended);
    uses.add(use);
  }

  private synchronized List<Use> abandoned() {
    return uses.isEmpty()
        ? List.of() : uses.stream().filter(Use::isAbandoned).toList();
  }

  /** Ends the requests that the calling thread has left. */
  void endLeft() {
    abandoned().forEach(Use::end);
  }

  /** Cancels them without waiting, as the next request waits for its turn. */
  void cancelLeft() {
    abandoned().forEach(Use::cancel);
  }
}
