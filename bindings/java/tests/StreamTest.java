import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Flow;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import runcible.Backend;
import runcible.Completion;
import runcible.EndReason;
import runcible.GenerateOptions;
import runcible.Model;
import runcible.ModelOptions;
import runcible.Piece;
import runcible.PieceStream;
import runcible.RuncibleException;
import runcible.Session;
import runcible.SessionOptions;
import runcible.WhenFull;

/** Streams and futures: demand, executors, cancelling, faulty subscribers. */
@Timeout(300)
class StreamTest {
  private static Model model;

  @BeforeAll
  static void load() {
    model = Model.load("builtin:fable", Backend.open("cpu"));
  }

  private static Session endlessSession() {
    return model.session(new SessionOptions().whenFull(WhenFull.SHIFT));
  }

  private static GenerateOptions endless() {
    return new GenerateOptions().ignoreEos(true);
  }

  private static GenerateOptions few(int tokens, long seed) {
    return new GenerateOptions().ignoreEos(true).maxTokens(tokens).seed(seed);
  }

  @Test
  void deliversNoMoreThanRequested() throws Exception {
    Collector collector = new Collector(0, piece -> {});
    PieceStream stream = model.session().stream("A", few(10, 1));
    stream.subscribe(collector);
    // The generation goes on by itself, and its pieces wait.
    Thread.sleep(200);
    assertEquals(0, collector.count());
    collector.subscription.request(2);
    waitFor(() -> collector.count() == 2);
    Thread.sleep(50);
    assertEquals(2, collector.count());
    assertFalse(stream.report().isDone());
    collector.subscription.request(1);
    collector.subscription.request(Long.MAX_VALUE);
    collector.subscription.request(Long.MAX_VALUE); // must not overflow
    collector.join();
    assertEquals(
        model.session().generate("A", few(10, 1)).text(), collector.soFar());
    assertEquals(10, stream.report().join().generatedTokens());
  }

  @Test
  void requestsFromOnNext() throws Exception {
    AtomicReference<Collector> self = new AtomicReference<>();
    self.set(new Collector(
        1, piece -> self.get().subscription.request(1)));
    model.session().stream("A", few(50, 1)).subscribe(self.get());
    assertEquals(
        model.session().generate("A", few(50, 1)).text(), self.get().join());
  }

  @Test
  void requestingANegativeCountEndsWithAnError() throws Exception {
    Session session = endlessSession();
    Collector collector = new Collector(-1, piece -> {});
    PieceStream stream = session.stream("A", endless());
    stream.subscribe(collector);
    var error =
        assertThrows(IllegalArgumentException.class, collector::join);
    assertTrue(error.getMessage().contains("-1"));
    assertEquals(EndReason.CANCELLED, stream.report().join().reason());
    session.append("B");
  }

  @Test
  void cancellingASubscriptionFreesTheSession() throws Exception {
    Session session = endlessSession();
    CountDownLatch begun = new CountDownLatch(3);
    Collector collector =
        new Collector(Long.MAX_VALUE, piece -> begun.countDown());
    PieceStream stream = session.stream("A", endless());
    stream.subscribe(collector);
    begun.await();
    collector.subscription.cancel();
    collector.subscription.cancel();
    assertEquals(EndReason.CANCELLED, stream.report().join().reason());
    assertFalse(collector.text.isDone());
    session.append("B"); // no longer busy
    collector.subscription.request(1);
  }

  @Test
  void refusesASecondSubscriber() throws Exception {
    PieceStream stream = model.session().stream("A", few(3, 1));
    Collector first = new Collector();
    Collector second = new Collector();
    stream.subscribe(first);
    stream.subscribe(second);
    assertThrows(IllegalStateException.class, second::join);
    assertFalse(first.join().isEmpty());
    assertEquals(EndReason.LENGTH, stream.report().join().reason());
  }

  @Test
  void invalidOptionsReachOnError() {
    PieceStream stream = model.session().stream(
        "A", new GenerateOptions().temperature(-1));
    Collector collector = new Collector();
    stream.subscribe(collector);
    assertThrows(RuncibleException.InvalidArgument.class, collector::join);
    var error = assertThrows(
        CompletionException.class, () -> stream.report().join());
    assertInstanceOf(RuncibleException.InvalidArgument.class, error.getCause());
  }

  @Test
  void aSubscriberThatThrowsIsCancelled() throws Exception {
    AtomicReference<Throwable> uncaught = new AtomicReference<>();
    ExecutorService executor = Executors.newSingleThreadExecutor(task -> {
      Thread thread = new Thread(task);
      thread.setUncaughtExceptionHandler((t, error) -> uncaught.set(error));
      return thread;
    });
    Session session = endlessSession();
    Collector collector = new Collector(Long.MAX_VALUE, piece -> {
      throw new ArithmeticException("mine");
    });
    PieceStream stream = session.stream("A", endless()).on(executor);
    stream.subscribe(collector);
    assertEquals(EndReason.CANCELLED, stream.report().join().reason());
    assertEquals("mine", uncaught.get().getMessage());
    assertEquals(1, collector.count());
    session.append("B");
    executor.shutdown();
  }

  @Test
  void aSlowSubscriberDoesNotHoldUpOthers() throws Exception {
    ExecutorService executor = Executors.newSingleThreadExecutor();
    CountDownLatch release = new CountDownLatch(1);
    Collector slow = new Collector(Long.MAX_VALUE, piece -> {
      try {
        release.await();
      } catch (InterruptedException never) {
        throw new AssertionError(never);
      }
    });
    model.session().stream("A", few(5, 1)).on(executor).subscribe(slow);
    Collector quick = new Collector();
    ExecutorService own = Executors.newSingleThreadExecutor();
    model.session().stream("A", few(5, 1)).on(own).subscribe(quick);
    String text = quick.join();
    release.countDown();
    assertEquals(text, slow.join());
    executor.shutdown();
    own.shutdown();
  }

  @Test
  void callsTheSubscriberOnTheGivenExecutor() throws Exception {
    Set<String> threads = ConcurrentHashMap.newKeySet();
    ExecutorService executor =
        Executors.newSingleThreadExecutor(task -> new Thread(task, "mine"));
    Collector collector = new Collector(
        Long.MAX_VALUE, piece -> threads.add(Thread.currentThread().getName()));
    model.session().stream("A", few(5, 1)).on(executor).subscribe(collector);
    collector.join();
    assertEquals(Set.of("mine"), threads);
    executor.shutdown();
  }

  @Test
  void anExecutorThatRefusesCancelsTheRequest() throws Exception {
    ExecutorService executor = Executors.newSingleThreadExecutor();
    Session session = endlessSession();
    CountDownLatch begun = new CountDownLatch(1);
    Collector collector =
        new Collector(Long.MAX_VALUE, piece -> begun.countDown());
    PieceStream stream = session.stream("A", endless()).on(executor);
    stream.subscribe(collector);
    begun.await();
    executor.shutdown();
    assertEquals(EndReason.CANCELLED, stream.report().join().reason());
    session.append("B");
    PieceStream never = session.stream("A", endless()).on(executor);
    never.subscribe(new Collector());
    assertEquals(EndReason.CANCELLED, never.report().join().reason());
  }

  @Test
  void deadlinesReachOnErrorAfterTheParts() {
    // Doubles the deadline until a piece arrives before it, on a busy machine.
    for (long ms = 50;; ms *= 2) {
      PieceStream stream = endlessSession().stream(
          "A", endless().deadline(Duration.ofMillis(ms)));
      Collector collector = new Collector();
      stream.subscribe(collector);
      var error =
          assertThrows(RuncibleException.Deadline.class, collector::join);
      assertEquals(EndReason.DEADLINE, error.report().orElseThrow().reason());
      if (!collector.soFar().isEmpty()) break;
    }
  }

  /** Any Flow.Processor may follow the stream. */
  @Test
  void worksThroughAnotherPublisher() throws Exception {
    Collector collector = new Collector();
    try (SubmissionPublisher<Piece> relay = new SubmissionPublisher<>()) {
      relay.subscribe(collector);
      CountDownLatch done = new CountDownLatch(1);
      model.session().stream("A", few(20, 1)).subscribe(
          new Flow.Subscriber<Piece>() {
            @Override
            public void onSubscribe(Flow.Subscription subscription) {
              subscription.request(Long.MAX_VALUE);
            }

            @Override
            public void onNext(Piece piece) {
              relay.submit(piece);
            }

            @Override
            public void onError(Throwable error) {
              relay.closeExceptionally(error);
            }

            @Override
            public void onComplete() {
              done.countDown();
            }
          });
      done.await();
    }
    assertEquals(
        model.session().generate("A", few(20, 1)).text(), collector.join());
  }

  @Test
  void futuresCompleteWithTheWholeText() {
    List<CompletableFuture<Completion>> futures = new ArrayList<>();
    for (int seed = 0; seed < 8; ++seed) {
      futures.add(model.session().generateAsync("A", few(10, seed)));
    }
    for (CompletableFuture<Completion> future : futures) {
      Completion completion = future.join();
      assertEquals(10, completion.tokens().size());
      assertEquals(EndReason.LENGTH, completion.report().reason());
    }
    String thread = model.session().generateAsync("A", few(3, 1))
        .thenApply(completion -> Thread.currentThread().getName()).join();
    assertFalse(thread.equals("runcible events"), thread);
  }

  @Test
  void cancellingAFutureFreesTheSession() throws Exception {
    Session session = endlessSession();
    CompletableFuture<Completion> future =
        session.generateAsync("A", endless());
    future.cancel(true);
    assertThrows(CancellationException.class, future::join);
    waitFor(() -> free(session));
    CompletableFuture<Completion> slow = session.generateAsync("A", endless())
        .orTimeout(50, TimeUnit.MILLISECONDS);
    assertThrows(CompletionException.class, slow::join);
    waitFor(() -> free(session));
  }

  @Test
  void aFutureFailsWithTheError() {
    CompletableFuture<Completion> future = endlessSession().generateAsync(
        "A", endless().deadline(Duration.ofMillis(20)));
    var error = assertThrows(CompletionException.class, future::join);
    assertInstanceOf(RuncibleException.Deadline.class, error.getCause());
  }

  @Test
  void loadAsyncReportsProgress() {
    List<Double> fractions = new ArrayList<>();
    try (Model loaded = Model.loadAsync(
        "builtin:fable", Backend.open("reference"),
        new ModelOptions().progress(fractions::add)).join()) {
      assertEquals("reference:0", loaded.report().device());
    }
    assertEquals(fractions.stream().sorted().toList(), fractions);
    assertEquals(1.0, fractions.get(fractions.size() - 1));
    var error = assertThrows(
        CompletionException.class,
        () -> Model.loadAsync("/", Backend.open("cpu"), new ModelOptions())
            .join());
    assertInstanceOf(RuncibleException.Io.class, error.getCause());
  }

  @Test
  void cancellingALoadFailsTheFuture() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch cancelled = new CountDownLatch(1);
    CompletableFuture<Model> future = Model.loadAsync(
        "builtin:fable", Backend.open("reference"),
        new ModelOptions().progress(fraction -> {
          begun.countDown();
          try {
            cancelled.await();
          } catch (InterruptedException never) {
            throw new AssertionError(never);
          }
        }));
    begun.await();
    future.cancel(true);
    cancelled.countDown();
    assertThrows(CancellationException.class, future::join);
  }

  private static boolean free(Session session) {
    try {
      session.append("B");
      return true;
    } catch (RuncibleException.Busy busy) {
      return false;
    }
  }

  private static void waitFor(java.util.function.BooleanSupplier condition)
      throws Exception {
    while (!condition.getAsBoolean()) {
      Thread.sleep(5);
    }
  }
}
