package runcible;

import java.util.ArrayList;
import java.util.List;

/**
 * The requests of a session that somebody reads. A for-each loop tells nobody
 * that it was left. But a thread that reads a request and then wants something
 * else of the same session has left it; so it is ended before.
 */
final class Uses {
  private final List<Use> uses = new ArrayList<>();

  synchronized void add(Use use) {
    uses.removeIf(Use::ended);
    uses.add(use);
  }

  private synchronized List<Use> left() {
    return uses.isEmpty() ? List.of() : uses.stream().filter(Use::left).toList();
  }

  /** Ends what the thread that calls it has left. */
  void endLeft() {
    left().forEach(Use::end);
  }

  /** The same without waiting: what is asked for next waits its turn. */
  void cancelLeft() {
    left().forEach(Use::cancel);
  }
}
