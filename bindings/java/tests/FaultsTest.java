import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import runcible.Backend;
import runcible.BackendOptions;
import runcible.Dtype;
import runcible.EndReason;
import runcible.GenerateOptions;
import runcible.Generation;
import runcible.Model;
import runcible.ModelOptions;
import runcible.Piece;
import runcible.RuncibleException;
import runcible.Session;
import runcible.SessionOptions;
import runcible.Tensor;
import runcible.WhenFull;

/** Wrong values, closed objects, unfinished loops: no crash, no leak. */
class FaultsTest {
  private static Backend backend;
  private static Model model;

  @BeforeAll
  static void load() {
    backend = Backend.open("cpu");
    model = Model.load("builtin:fable", backend);
  }

  /** A session whose generation never ends by itself. */
  private static Session endless() {
    return model.session(new SessionOptions().whenFull(WhenFull.SHIFT));
  }

  private static GenerateOptions options() {
    return new GenerateOptions();
  }

  @Test
  void nullArgumentsThrowNullPointerException() {
    Session session = model.session();
    List<Executable> wrong = List.of(
        () -> Backend.open(null),
        () -> Backend.open("cpu", null),
        () -> Model.load(null, backend),
        () -> Model.load("builtin:fable", (Backend) null),
        () -> Model.load("builtin:fable", backend, null),
        () -> model.tokenize(null),
        () -> model.session(null),
        () -> session.generate((String) null),
        () -> session.generate((GenerateOptions) null),
        () -> session.stream("A").subscribe(null),
        () -> session.stream("A").on(null),
        () -> session.append((String) null),
        () -> session.migrate(null),
        () -> Session.restore(null, Path.of("a")),
        () -> options().stop((String) null),
        () -> options().deadline(null),
        () -> options().logitBias(null),
        () -> Tensor.of(backend, (float[]) null, 1),
        () -> Tensor.ones(backend, Dtype.F32, 1).matmul(null));
    for (Executable each : wrong) {
      assertThrows(NullPointerException.class, each);
    }
  }

  @Test
  void nullArraysCountAsEmpty() {
    assertThrows(
        RuncibleException.InvalidArgument.class,
        () -> Tensor.of(backend, Dtype.F32, (byte[]) null, 1));
    assertThrows(
        RuncibleException.InvalidArgument.class,
        () -> Tensor.zeros(backend, Dtype.F32, (long[]) null));
    assertThrows(
        RuncibleException.Format.class,
        () -> Session.restore(model, (byte[]) null, new SessionOptions()));
    assertEquals("", model.detokenize((int[]) null));
  }

  @Test
  void invalidValuesThrow() {
    Session session = model.session();
    List<Executable> byJava = List.of(
        () -> new BackendOptions().memoryLimit(-1),
        () -> Backend.open("cp\0u"),
        () -> Model.load("builtin:fa\0ble", backend),
        () -> options().stop("a\0b"),
        () -> options().deadline(Duration.ofSeconds(-1)),
        () -> options().deadline(Duration.ofSeconds(Long.MAX_VALUE)),
        () -> model.tokenize("\ud800"));
    for (Executable each : byJava) {
      assertThrows(IllegalArgumentException.class, each);
    }
    List<Executable> byTheLibrary = List.of(
        () -> session.generate("A", options().temperature(Double.NaN)),
        () -> session.generateAsync("A", options().topP(2)),
        () -> Tensor.ones(backend, Dtype.F32, 1, 1, 1, 1, 1));
    for (Executable each : byTheLibrary) {
      assertThrows(RuncibleException.InvalidArgument.class, each);
    }
  }

  @Test
  void invalidUtf8BecomesReplacementCharacters() {
    int[] tokens = model.tokenizer().tokenize(
        new byte[] {'a', (byte) 0xff, 'b'}, false, false);
    assertTrue(model.detokenize(tokens).endsWith("a\ufffdb"));
  }

  @Test
  void textOutsideTheBasicPlaneSurvives() {
    String text = "a \ud83e\udd8a and a \0 zero";
    int[] tokens = model.tokenizer().tokenize(text, false, false);
    assertEquals(text, model.detokenize(tokens));
  }

  @Test
  void closedHandlesThrowClosed() {
    Session session = model.session();
    session.close();
    assertTrue(session.isClosed());
    var error = assertThrows(
        RuncibleException.Closed.class, () -> session.generateAsync("B"));
    assertTrue(error.getMessage().contains("closed"));
  }

  @Test
  void closingAGenerationCancelsIt() {
    Generation generation = endless().generate("A", options().ignoreEos(true));
    generation.next();
    generation.close();
    generation.close();
    assertFalse(generation.hasNext());
    assertEquals(
        EndReason.CANCELLED, generation.report().orElseThrow().reason());
    assertThrows(RuncibleException.Closed.class, generation::cancel);
  }

  @Test
  void handlesAreCollectedInAnyOrder() throws Exception {
    for (int seed = 0; seed < 6; ++seed) {
      Backend own = Backend.open("cpu");
      Model loaded = Model.load("builtin:fable", own);
      Session session = loaded.session();
      List<Object> kept = new ArrayList<>(List.of(
          own, loaded, session, session.fork(), session.generate("A")));
      Collections.shuffle(kept, new Random(seed));
      kept.add(kept); // a cycle
    }
    for (int i = 0; i < 3; ++i) {
      System.gc();
      Thread.sleep(10);
    }
  }

  @Test
  void anUnreachableGenerationIsCancelled() throws Exception {
    Session session = endless();
    session.generate("A", options().ignoreEos(true)).next();
    for (int i = 0; i < 6000; ++i) {
      System.gc();
      if (Boolean.TRUE.equals(elsewhere(() -> free(session)))) {
        return;
      }
      Thread.sleep(10);
    }
    throw new AssertionError("the generation goes on");
  }

  private static boolean free(Session session) {
    try {
      session.append("B");
      return true;
    } catch (RuncibleException.Busy goesOn) {
      return false;
    }
  }

  /** Runs work in a thread that has read nothing. */
  private static <T> T elsewhere(Supplier<T> work) throws Exception {
    return CompletableFuture.supplyAsync(work, task -> new Thread(task).start())
        .get();
  }

  /** The next use of the session ends the generation of an unfinished loop. */
  @Test
  void nextUseEndsAnUnfinishedLoop() {
    Session session = endless();
    List<Executable> uses = List.of(
        () -> session.generateAsync("B", options().maxTokens(2)).join(),
        () -> session.decodeAsync().join());
    for (Executable use : uses) {
      Generation generation = session.generate("A", options().ignoreEos(true));
      for (Piece piece : generation) {
        assertFalse(piece.tokens().isEmpty());
        break;
      }
      assertDoesNotThrow(use);
      assertThrows(RuncibleException.Cancelled.class, generation::text);
      assertEquals(
          EndReason.CANCELLED, generation.report().orElseThrow().reason());
    }
    Generation streamed = session.generate("A", options().ignoreEos(true));
    assertTrue(streamed.pieces().findFirst().isPresent());
    session.append("B");
    Generation closed = session.generate("A", options().ignoreEos(true));
    closed.next();
    session.append("B");
    closed.close();
  }

  @Test
  void aGenerationReadByAnotherThreadGoesOn() throws Exception {
    Session session = endless();
    Generation generation = session.generate("A", options().ignoreEos(true));
    elsewhere(generation::next);
    assertFalse(free(session));
    generation.next();
    assertTrue(free(session));
  }

  @Test
  void errorsAreAlsoJavaExceptions() throws Exception {
    assertThrows(
        IllegalArgumentException.class,
        () -> model.session().generate("A", options().topK(-1)));
    var none = assertThrows(
        UncheckedIOException.class,
        () -> Model.load("/nothing.gguf", backend));
    assertEquals(FileNotFoundException.class, none.getCause().getClass());
    assertThrows(UncheckedIOException.class, () -> Model.load("/", backend));
    assertThrows(UnsupportedOperationException.class, backend::trace);
    Session session = endless();
    Generation generation = session.generate("A", options().ignoreEos(true));
    elsewhere(generation::next);
    assertThrows(IllegalStateException.class, () -> session.append("B"));
    generation.cancel();
    assertThrows(CancellationException.class, generation::text);
    session.close();
    assertThrows(IllegalStateException.class, session::decode);
  }

  @Test
  void decodeAsyncEvaluatesTheTokens() {
    Session session = endless();
    session.append(5, 6, 7);
    session.decodeAllAsync().join();
    float[][] logits = session.logits();
    assertEquals(3, logits.length);
    session.decodeAsync().join();
    assertEquals(1, session.logits().length);
    session.truncate(0);
    var error = assertThrows(
        CompletionException.class, () -> session.decodeAsync().join());
    assertEquals(
        RuncibleException.InvalidArgument.class, error.getCause().getClass());
  }

  @Test
  void anExceptionInALoopFreesTheSession() {
    Session session = endless();
    assertThrows(ArithmeticException.class, () -> {
      try (Generation generation =
          session.generate("A", options().ignoreEos(true))) {
        for (Piece piece : generation) {
          throw new ArithmeticException(piece.text());
        }
      }
    });
    session.append("B"); // no longer busy
  }

  @Test
  void anExceptionOfTheProgressFunctionEndsTheLoad() {
    ModelOptions watched = new ModelOptions().progress(fraction -> {
      throw new ArithmeticException("mine");
    });
    assertEquals("mine", assertThrows(
        ArithmeticException.class,
        () -> Model.load("builtin:fable", Backend.open("cpu"), watched))
        .getMessage());
  }

  private static long resident() throws IOException {
    String[] pages = Files.readString(Path.of("/proc/self/statm")).split(" ");
    return Long.parseLong(pages[1]) * 4096;
  }

  private static void runGenerations(int count) {
    GenerateOptions one =
        options().maxTokens(1).stop("x").logitBias(Map.of(5, -1f)).logprobs(2);
    for (int i = 0; i < count; ++i) {
      try (Session session = model.session();
          Generation generation = session.generate("A", one)) {
        generation.text();
      }
      if (i % 4 == 0) {
        try (Session session = model.session()) {
          session.generateAsync("A", one).join();
        }
      }
    }
  }

  /** Generations leave nothing behind, in Java or in C. */
  @Test
  void generationsDoNotLeak() throws Exception {
    runGenerations(2000); // the heap and the compiled code reach their size
    // A leak grows in each round; the heap grows in jumps, and for longer where
    // there are many threads.
    long grown = Long.MAX_VALUE;
    for (int i = 0; i < 16 && grown >= 6 << 20; ++i) {
      System.gc();
      long before = resident();
      runGenerations(2000);
      System.gc();
      grown = resident() - before;
    }
    assertTrue(grown < 6 << 20, "grew by " + grown + " bytes at last");
  }

  /** Sessions that are never closed leave nothing behind once collected. */
  @Test
  void collectedSessionsDoNotLeak() throws Exception {
    long before = 0;
    for (int round = 0; round < 6; ++round) {
      for (int i = 0; i < 200; ++i) {
        model.session().generate("A", options().maxTokens(1)).text();
        Tensor.zeros(backend, Dtype.F32, 16 * 1024);
      }
      System.gc();
      Thread.sleep(20);
      if (round == 1) {
        before = resident();
      }
    }
    long growth = resident() - before;
    // Another thread releases collected objects, whenever it runs.
    for (int i = 0; i < 6000 && growth >= 24 << 20; ++i) {
      System.gc();
      Thread.sleep(10);
      growth = resident() - before;
    }
    // 800 tensors would be 50 MiB.
    assertTrue(growth < 24 << 20, "grew by " + growth + " bytes");
  }
}
