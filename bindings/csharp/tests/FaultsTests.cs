using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using System.Threading;
using Runcible;

/// Wrong values, closed objects, threads, exits: no crash, no hang, no leak.
class FaultsTests {
  private readonly Backend backend = new Backend("cpu");
  private readonly Model model;

  public FaultsTests() {
    model = new Model("builtin:fable", backend);
  }

  private Session EndlessSession() =>
      model.Session(new SessionOptions { WhenFull = WhenFull.Shift });

  private static readonly GenerateOptions endless =
      new GenerateOptions { IgnoreEos = true };

  public void TestNullArgumentsThrow() {
    foreach (Action wrong in new Action[] {
        () => new Backend(null),
        () => new Model(null, backend),
        () => new Model("builtin:fable", null),
        () => model.Tokenize(null),
        () => model.Detokenize(null),
        () => model.Session().Append((string)null),
        () => model.Session().Append((int[])null),
        () => model.Session().Migrate(null),
        () => Session.Restore(null, "a"),
        () => Session.Restore(model, (byte[])null),
        () => Tensor.From(backend, (float[])null, 1),
        () => Tensor.Ones(backend, Dtype.F32, null),
        () => Tensor.Ones(backend, Dtype.F32, 1).Matmul(null) }) {
      try {
        wrong();
      } catch (NullReferenceException) {
        continue;
      } catch (ArgumentNullException) {
        continue;
      }
      throw new CheckFailed("nothing was thrown");
    }
  }

  public void TestInvalidValuesThrow() {
    Check.Throws<ArgumentOutOfRangeException>(
        () => new Backend("cpu", new BackendOptions { MemoryLimit = -1 }));
    Check.Throws<ArgumentException>(() => new Backend("cp\0u"));
    Check.Throws<ArgumentException>(() => new Model("builtin:fa\0b", backend));
    Check.Throws<EncoderFallbackException>(() => model.Tokenize("\ud800"));
    foreach (GenerateOptions wrong in new[] {
        new GenerateOptions { Deadline = TimeSpan.FromSeconds(-1) },
        new GenerateOptions { Stop = new[] { "a\0b" } },
        new GenerateOptions { Temperature = double.NaN } }) {
      try {
        model.Session().Generate("A", wrong);
      } catch (ArgumentException) {
        continue;
      }
      throw new CheckFailed("nothing was thrown");
    }
    Check.Throws<InvalidArgumentException>(
        () => Tensor.Ones(backend, Dtype.F32, 1, 1, 1, 1, 1));
  }

  public void TestTextsOfAllCharacters() {
    using (Tokenizer tokenizer = model.Tokenizer()) {
      int[] tokens = tokenizer.Tokenize(
          new byte[] { 97, 255, 98 }, addSpecial: false);
      Check.That(tokenizer.Detokenize(tokens).EndsWith("a\ufffdb"));
    }
    string text = "a \ud83e\udd8a and a \0 zero";
    Check.Equal(
        text, model.Detokenize(model.Tokenize(text, addSpecial: false)));
    Check.Equal(0, model.Tokenize("", addSpecial: false).Length);
    Check.Equal("", model.Detokenize(new int[0]));
  }

  public void TestUseAfterDisposeThrowsClosed() {
    Session session = model.Session();
    session.Dispose();
    Check.That(session.IsClosed);
    Check.That(Check.Throws<ClosedException>(
        () => session.GenerateAsync("B").Wait()).Message.Contains("closed"));
  }

  public void TestCollectingInAnyOrder() {
    for (int i = 0; i < 6; ++i) {
      Lose();
      GC.Collect();
      GC.WaitForPendingFinalizers();
    }
  }

  private static void Lose() {
    var loaded = new Model("builtin:fable", new Backend("cpu"));
    Session session = loaded.Session();
    session.Fork();
    session.Generate("A").MoveNext();
  }

  public void TestLeavingALoopFreesTheSession() {
    Session session = EndlessSession();
    Generation generation = session.Generate("A", endless);
    foreach (Piece piece in generation) {
      break;
    }
    Check.Equal(EndReason.Cancelled, generation.Report.Reason);
    session.Append("B"); // no longer busy
    Check.Throws<KeyNotFoundException>(() => {
      foreach (Piece piece in session.Generate("A", endless)) {
        throw new KeyNotFoundException();
      }
    });
    session.Append("B");
    Check.That(!generation.MoveNext());
  }

  public void TestAnExceptionOfTheProgressFunctionEndsTheLoad() {
    var options = new ModelOptions {
      Progress = fraction => throw new KeyNotFoundException("mine")
    };
    Check.Equal("mine", Check.Throws<KeyNotFoundException>(
        () => new Model("builtin:fable", new Backend("cpu"), options)).Message);
  }

  public void TestErrorsAreAlsoExceptionsOfSystem() {
    var kinds = new Dictionary<Type, Type> {
      [typeof(InvalidArgumentException)] = typeof(ArgumentException),
      [typeof(HostMemoryException)] = typeof(OutOfMemoryException),
      [typeof(NotFoundException)] = typeof(FileNotFoundException),
      [typeof(IoException)] = typeof(IOException),
      [typeof(Runcible.FormatException)] = typeof(System.FormatException),
      [typeof(UnsupportedException)] = typeof(NotSupportedException),
      [typeof(DeviceMemoryException)] = typeof(OutOfMemoryException),
      [typeof(WaitTimeoutException)] = typeof(TimeoutException),
      [typeof(DeadlineException)] = typeof(TimeoutException),
      [typeof(ContextFullException)] = typeof(InvalidOperationException),
      [typeof(BusyException)] = typeof(InvalidOperationException),
      [typeof(ClosedException)] = typeof(ObjectDisposedException)
    };
    foreach (KeyValuePair<Type, Type> kind in kinds) {
      Check.That(kind.Value.IsAssignableFrom(kind.Key), kind.Key);
      Check.That(typeof(IRuncibleException).IsAssignableFrom(kind.Key));
    }
    Check.That(Check.Throws<NotFoundException>(
        () => new Model("/nothing.gguf", backend)).Message.Contains(
        "/nothing.gguf"));
    Check.That(Check.Throws<IoException>(
        () => new Model("/", backend)).Message.Contains("directory"));
  }

  public void TestAPromptThatTakesLong() {
    var slow = new Model("builtin:fable", new Backend("reference"));
    Generation generation = slow.Session().Generate(null, new GenerateOptions {
      PromptTokens = Enumerable.Repeat(50, 300).ToArray(), MaxTokens = 1
    });
    generation.Text();
    Check.Equal(1, generation.Report.GeneratedTokens);
  }

  public void TestDecodeAsync() {
    Session session = EndlessSession();
    session.Append(5, 6, 7);
    session.DecodeAsync(true).Wait();
    Check.Equal(3, session.Logits().GetLength(0));
    session.Truncate(0);
    Check.Throws<InvalidArgumentException>(() => session.DecodeAsync().Wait());
  }

  public void TestNextUseEndsAGenerationThatWasLeft() {
    Session session = EndlessSession();
    foreach (Piece piece in session.Generate("A", endless)) {
      break;
    }
    session.Append("B"); // no longer busy
    Check.That(session.Generate("A", endless).Take(2).Count() == 2);
    session.Append("B");
    foreach (Action use in new Action[] {
        () => session.GenerateAsync(
            "B", new GenerateOptions { MaxTokens = 2 }).Wait(),
        () => session.DecodeAsync().Wait() }) {
      Generation left = session.Generate("A", endless);
      left.MoveNext();
      use();
      Check.Throws<CancelledException>(() => left.Text());
      Check.Equal(EndReason.Cancelled, left.Report.Reason);
    }
    Generation other = session.Generate("A", endless);
    var thread = new Thread(() => other.MoveNext());
    thread.Start();
    thread.Join();
    Check.Throws<BusyException>(() => session.Append("B"));
    other.Dispose();
  }

  public void TestCancelFromAnotherThread() {
    Generation generation = EndlessSession().Generate("A", endless);
    generation.MoveNext();
    var thread = new Thread(generation.Cancel);
    thread.Start();
    Check.Throws<CancelledException>(() => generation.Text());
    Check.That(!generation.MoveNext());
    thread.Join();
  }

  public void TestThreadsShareAGeneration() {
    Generation generation = EndlessSession().Generate(
        "A", new GenerateOptions { IgnoreEos = true, MaxTokens = 200 });
    int refused = 0;
    var threads = Enumerable.Range(0, 4).Select(i => new Thread(() => {
      while (true) {
        try {
          if (!generation.MoveNext()) {
            return;
          }
        } catch (InvalidOperationException) {
          Interlocked.Increment(ref refused);
          Thread.Yield();
        }
      }
    })).ToList();
    threads.ForEach(thread => thread.Start());
    threads.ForEach(thread => thread.Join());
    Check.Equal(200, generation.Report.GeneratedTokens);
  }

  public void TestThreadsWhileCollecting() {
    var texts = new string[8];
    var threads = Enumerable.Range(0, 8).Select(seed => new Thread(() => {
      texts[seed] = model.Session().Generate("A", new GenerateOptions {
          Seed = (ulong)seed, MaxTokens = 20 }).Text();
    })).ToList();
    threads.ForEach(thread => thread.Start());
    for (int i = 0; i < 20; ++i) {
      GC.Collect(); // stops and starts all threads by signals
      Thread.Sleep(1);
    }
    threads.ForEach(thread => thread.Join());
    for (int seed = 0; seed < 8; ++seed) {
      Check.Equal(
          model.Session().Generate("A", new GenerateOptions {
              Seed = (ulong)seed, MaxTokens = 20 }).Text(),
          texts[seed]);
    }
  }

  public void TestDisposingWhileOtherThreadsUseTheSession() {
    for (int round = 0; round < 5; ++round) {
      Session session = model.Session();
      var begun = new ManualResetEvent(false);
      Exception other = null;
      var thread = new Thread(() => {
        try {
          while (true) {
            session.Append(5);
            session.Decode();
            session.Truncate(0);
            begun.Set();
          }
        } catch (ClosedException) {
          // Expected.
        } catch (Exception unexpected) {
          other = unexpected;
        }
      });
      thread.Start();
      begun.WaitOne();
      session.Dispose();
      thread.Join();
      Check.That(other == null, other);
    }
  }

  public void TestExitWithRequestsInFlight() {
    Check.Equal("done\n", PackageTests.Run("tests.exe", "returns"));
    Check.Equal("done\n", PackageTests.Run("tests.exe", "exits"));
  }

  private static long Resident() {
    GC.Collect();
    GC.WaitForPendingFinalizers();
    GC.Collect();
    return long.Parse(File.ReadAllText("/proc/self/statm").Split(' ')[1])
        * Environment.SystemPageSize;
  }

  private void RunGenerations(int count) {
    var one = new GenerateOptions {
      MaxTokens = 1, Stop = new[] { "x" }, Logprobs = 2,
      LogitBias = new Dictionary<int, float> { { 5, -1 } }
    };
    for (int i = 0; i < count; ++i) {
      using (Session session = model.Session())
      using (Generation generation = session.Generate("A", one)) {
        generation.Text();
      }
      if (i % 4 == 0) {
        using (Session session = model.Session()) {
          session.GenerateAsync("A", one).Wait();
        }
      }
    }
  }

  /// Generations leave nothing behind, in C# or in C.
  public void TestGenerationsDoNotLeak() {
    RunGenerations(2000);
    // A leak grows in each round; the heap grows in jumps, and for longer where
    // there are many threads.
    long grown = long.MaxValue;
    for (int i = 0; i < 16 && grown >= 4 << 20; ++i) {
      long before = Resident();
      RunGenerations(2000);
      grown = Resident() - before;
    }
    Check.That(grown < 4 << 20, "grew by " + grown + " bytes at last");
  }

  /// Sessions that are never disposed of leave nothing behind once collected.
  public void TestCollectedSessionsDoNotLeak() {
    long before = 0;
    for (int round = 0; round < 12; ++round) {
      for (int i = 0; i < 200; ++i) {
        model.Session().Generate(
            "A", new GenerateOptions { MaxTokens = 1 }).Text();
        Tensor.Zeros(backend, Dtype.F32, 16 * 1024);
      }
      long now = Resident();
      if (round == 3) {
        before = now;
      }
    }
    long growth = Resident() - before;
    // 1600 tensors would be 100 MiB.
    Check.That(growth < 48 << 20, "grew by " + growth + " bytes");
  }
}
