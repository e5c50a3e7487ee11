import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import runcible.Backend;
import runcible.GenerateOptions;
import runcible.Generation;
import runcible.Model;
import runcible.RuncibleException;
import runcible.Session;
import runcible.SessionOptions;
import runcible.WhenFull;

/** Threads that share models, sessions and generations. */
class ThreadsTest {
  private static Model model;

  @BeforeAll
  static void load() {
    try (Backend backend = Backend.open("cpu")) {
      model = Model.load("builtin:fable", backend);
    }
  }

  /** A session whose generation never ends by itself. */
  private static Session endless() {
    return model.session(new SessionOptions().whenFull(WhenFull.SHIFT));
  }

  private static GenerateOptions options() {
    return new GenerateOptions();
  }

  @Test
  void cancelsFromAnotherThread() throws Exception {
    Generation generation = endless().generate("A", options().ignoreEos(true));
    generation.next();
    Thread thread = new Thread(generation::cancel);
    thread.start();
    assertThrows(RuncibleException.Cancelled.class, generation::text);
    assertFalse(generation.hasNext());
    thread.join();
  }

  @Test
  void interruptingTheWaitingThreadEndsTheGeneration() throws Exception {
    Session session = endless();
    Generation generation = session.generate("A", options().ignoreEos(true));
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    CountDownLatch begun = new CountDownLatch(1);
    Thread thread = new Thread(() -> {
      try {
        generation.forEach(piece -> begun.countDown());
      } catch (RuncibleException.Cancelled cancelled) {
        thrown.set(Thread.currentThread().isInterrupted() ? cancelled : null);
      }
    });
    thread.start();
    begun.await();
    thread.interrupt();
    thread.join();
    assertEquals(
        RuncibleException.Cancelled.class, thrown.get().getClass());
    session.append("B"); // it has ended
    assertFalse(generation.hasNext());
  }

  @Test
  void threadsGenerateAtOnce() throws Exception {
    String[] texts = new String[8];
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < texts.length; ++i) {
      int seed = i;
      threads.add(new Thread(() -> texts[seed] = model.session()
          .generate("A", options().seed(seed).maxTokens(20)).text()));
    }
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join();
    }
    // On a CPU, concurrent requests do not change the bits of a session.
    for (int seed = 0; seed < texts.length; ++seed) {
      assertEquals(
          model.session().generate("A", options().seed(seed).maxTokens(20))
              .text(),
          texts[seed]);
    }
    assertTrue(Arrays.stream(texts).distinct().count() > 4);
  }

  @Test
  void threadsShareAGeneration() throws Exception {
    Generation generation = endless().generate(
        "A", options().ignoreEos(true).maxTokens(200));
    AtomicInteger tokens = new AtomicInteger();
    Runnable read = () -> {
      while (true) {
        try {
          tokens.addAndGet(generation.next().tokens().size());
        } catch (IllegalStateException refused) {
          Thread.onSpinWait();
        } catch (java.util.NoSuchElementException end) {
          return;
        }
      }
    };
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 4; ++i) {
      threads.add(new Thread(read));
    }
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(200, tokens.get());
  }

  @Test
  void closingWhileOtherThreadsUseTheSession() throws Exception {
    for (int round = 0; round < 5; ++round) {
      Session session = model.session();
      CountDownLatch begun = new CountDownLatch(1);
      AtomicReference<Throwable> other = new AtomicReference<>();
      Thread thread = new Thread(() -> {
        try {
          while (true) {
            session.append(5);
            session.decode();
            session.truncate(0);
            begun.countDown();
          }
        } catch (RuncibleException.Closed closed) {
          // Expected.
        } catch (Throwable unexpected) {
          other.set(unexpected);
        }
      });
      thread.start();
      begun.await();
      session.close();
      thread.join();
      assertEquals(null, other.get());
    }
  }
}
