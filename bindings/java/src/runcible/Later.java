package runcible;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;

/** Work on a thread of its own, which need not be waited for. */
final class Later {
  private Later() {}

  /**
   * The future of what the work makes, which is told the future. What nobody
   * waits for any more is given back.
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
