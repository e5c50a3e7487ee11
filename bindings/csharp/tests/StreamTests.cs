using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Runcible;

/// Streams and tasks: cancelling, deadlines, readers that fail.
class StreamTests {
  private readonly Model model =
      new Model("builtin:fable", new Backend("cpu"));

  private Session EndlessSession() =>
      model.Session(new SessionOptions { WhenFull = WhenFull.Shift });

  private static GenerateOptions Endless() =>
      new GenerateOptions { IgnoreEos = true };

  private static GenerateOptions Few(int tokens, ulong seed) =>
      new GenerateOptions {
        IgnoreEos = true, MaxTokens = tokens, Seed = seed
      };

  private static T Wait<T>(ValueTask<T> task) => task.AsTask().Result;

  public void TestManyStreamsAtOnce() {
    Completion[] all = Task.WhenAll(Enumerable.Range(0, 16).Select(
        seed => model.Session().GenerateAsync("A", Few(20, (ulong)seed))))
        .Result;
    Check.That(all.Select(each => each.Text).Distinct().Count() > 8);
    Check.That(all.All(each => each.Tokens.Count == 20));
    // On a CPU, concurrent requests do not change the bits of a session.
    Check.Equal(
        model.Session().Generate("A", Few(20, 3)).Text(), all[3].Text);
  }

  public void TestReadingByHand() {
    PieceStream stream = model.Session().Stream("A", Few(10, 1));
    IAsyncEnumerator<Piece> pieces = stream.GetAsyncEnumerator();
    string text = "";
    while (Wait(pieces.MoveNextAsync())) {
      text += pieces.Current.Text;
      Thread.Sleep(2); // pieces that come meanwhile wait
    }
    Check.Equal(model.Session().Generate("A", Few(10, 1)).Text(), text);
    Check.That(!Wait(pieces.MoveNextAsync()));
    pieces.DisposeAsync().AsTask().Wait();
    pieces.DisposeAsync().AsTask().Wait();
    Check.Equal(EndReason.Length, stream.Report.Reason);
    Check.Throws<InvalidOperationException>(() => stream.GetAsyncEnumerator());
  }

  public void TestDisposingOfAnEnumeratorFreesTheSession() {
    Session session = EndlessSession();
    PieceStream stream = session.Stream("A", Endless());
    IAsyncEnumerator<Piece> pieces = stream.GetAsyncEnumerator();
    Check.That(Wait(pieces.MoveNextAsync()));
    pieces.DisposeAsync().AsTask().Wait();
    Check.Equal(EndReason.Cancelled, stream.Report.Reason);
    session.Append("B"); // no longer busy
    Check.That(!Wait(pieces.MoveNextAsync()));
  }

  public void TestAnUnreachableEnumeratorIsCancelled() {
    Session session = EndlessSession();
    // In a separate thread, as its stack goes with it.
    var thread = new Thread(() => Wait(
        session.Stream("A", Endless()).GetAsyncEnumerator().MoveNextAsync()));
    thread.Start();
    thread.Join();
    for (int i = 0; i < 6000; ++i) {
      GC.Collect();
      GC.WaitForPendingFinalizers();
      try {
        session.Append("B");
        return;
      } catch (BusyException) {
        Thread.Sleep(10);
      }
    }
    throw new CheckFailed("the generation goes on");
  }

  public void TestAReaderThatThrowsFreesTheSession() {
    Session session = EndlessSession();
    Check.Throws<KeyNotFoundException>(
        () => session.Stream("A", Endless()).ForEachAsync(
            piece => throw new KeyNotFoundException()).Wait());
    session.Append("B");
  }

  public void TestCancellingAToken() {
    Session session = EndlessSession();
    var source = new CancellationTokenSource();
    Task<Completion> task =
        session.GenerateAsync("A", Endless(), source.Token);
    Thread.Sleep(20);
    Check.That(!task.IsCompleted);
    source.Cancel();
    try {
      task.Wait();
      throw new CheckFailed("the task was not cancelled");
    } catch (AggregateException) {
      Check.That(task.IsCanceled, task.Status);
    }
    session.Append("B");
    // A token that is cancelled already.
    Task<Completion> never =
        session.GenerateAsync("A", Endless(), source.Token);
    Check.That(((IAsyncResult)never).AsyncWaitHandle.WaitOne(60000));
    Check.That(never.IsCanceled);
    session.Append("B");
  }

  public void TestATimeout() {
    Session session = EndlessSession();
    using (var source = new CancellationTokenSource(50)) {
      try {
        session.Generate("A", Endless(), source.Token).Text();
        throw new CheckFailed("nothing was thrown");
      } catch (OperationCanceledException cancelled) {
        Check.Equal(source.Token, cancelled.CancellationToken);
      }
    }
    session.Append("B");
  }

  public void TestDeadline() {
    var options = Endless();
    options.Deadline = TimeSpan.FromMilliseconds(50);
    var error = Check.Throws<DeadlineException>(
        () => EndlessSession().GenerateAsync("A", options).Wait());
    Check.Equal(EndReason.Deadline, error.Report.Reason);
  }

  public void TestInvalidOptionsThrow() {
    Check.Throws<InvalidArgumentException>(
        () => model.Session().GenerateAsync(
            "A", new GenerateOptions { Temperature = -1 }).Wait());
  }

  public void TestRefusesASecondReader() {
    IAsyncEnumerator<Piece> pieces =
        EndlessSession().Stream("A", Endless()).GetAsyncEnumerator();
    bool refused = false;
    var waiting = new List<Task>();
    for (int i = 0; i < 10000 && !refused; ++i) {
      try {
        waiting.Add(pieces.MoveNextAsync().AsTask());
      } catch (InvalidOperationException) {
        refused = true;
      }
    }
    Check.That(refused);
    pieces.DisposeAsync().AsTask().Wait();
    Task.WhenAll(waiting).ContinueWith(all => all.Exception).Wait();
  }

  public void TestOpening() {
    var fractions = new List<double>();
    using (Backend opened = Backend.OpenAsync(
        "reference", new BackendOptions { Progress = fractions.Add }).Result) {
      Check.Equal("reference:0", opened.Device.Id);
    }
    Check.That(fractions.Count > 0);
    Check.That(Backend.DiscoverAsync().Result.Devices.Count > 0);
    var source = new CancellationTokenSource();
    Task<Backend> cancelled = Backend.OpenAsync(
        "reference",
        new BackendOptions { Progress = fraction => source.Cancel() },
        source.Token);
    try {
      cancelled.Wait();
      throw new CheckFailed("the opening was not cancelled");
    } catch (AggregateException) {
      Check.That(cancelled.IsCanceled, cancelled.Status);
    }
  }

  public void TestSwitching() {
    var moving = new Backend("cpu");
    var moved = new Model("builtin:fable", moving);
    var fractions = new List<double>();
    moving.SwitchAsync("reference", new BackendSwitchOptions {
      Progress = fractions.Add }).Wait();
    Check.Equal("reference:0", moved.Report.Device);
    Check.Equal(1.0, fractions.Last());
    Check.Throws<DivideByZeroException>(
        () => moving.Switch("cpu", new BackendSwitchOptions {
          Progress = fraction => { throw new DivideByZeroException(); } }));
    var source = new CancellationTokenSource();
    Task cancelled = moving.SwitchAsync("cpu", new BackendSwitchOptions {
      Progress = fraction => source.Cancel() }, source.Token);
    try {
      cancelled.Wait();
      throw new CheckFailed("the switch was not cancelled");
    } catch (AggregateException) {
      Check.That(cancelled.IsCanceled, cancelled.Status);
    }
    Check.Equal("reference:0", moving.Device.Id);
  }

  public void TestLoading() {
    var fractions = new List<double>();
    using (Model loaded = Model.LoadAsync(
        "builtin:fable", new Backend("reference"),
        new ModelOptions { Progress = fractions.Add }).Result) {
      Check.Equal("reference:0", loaded.Report.Device);
    }
    Check.Same(fractions.OrderBy(fraction => fraction), fractions);
    Check.Equal(1.0, fractions.Last());
    Check.Throws<IoException>(
        () => Model.LoadAsync("/", new Backend("cpu")).Wait());
    var source = new CancellationTokenSource();
    Task<Model> cancelled = Model.LoadAsync(
        "builtin:fable", new Backend("reference"),
        new ModelOptions { Progress = fraction => source.Cancel() },
        source.Token);
    try {
      cancelled.Wait();
      throw new CheckFailed("the load was not cancelled");
    } catch (AggregateException) {
      Check.That(cancelled.IsCanceled, cancelled.Status);
    }
  }
}
