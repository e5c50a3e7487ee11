package runcible;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;

/** Runs work in the background, on a separate thread for each. */
final class Later {
  private Later() {}

  /**
   * Returns the future of a result. The work receives the future; `giveBack`
   * receives a result that arrives after the future was completed or cancelled.
   */
  static <T> CompletableFuture<T> start(
      String name, Function<CompletableFuture<T>, T> work,
      Consumer<T> giveBack) {
    CompletableFuture<T> future = new CompletableFuture<>();
    Thread thread = new Thread(() -> {
      try {
        T made = work.apply(future);
        if (!future.complete(made)) {
          giveBack.accept(made);
        }
      } catch (Throwable failure) {
        future.completeExceptionally(failure);
      }
    }, name);
    thread.setDaemon(true);
    thread.start();
    return future;
  }
}
