using System;
using System.Threading;
using Runcible;

/// The child processes of FaultsTests.
static class Children {
  public static void Run(string name) {
    var model = new Model("builtin:fable", new Backend("cpu"));
    var shift = new SessionOptions { WhenFull = WhenFull.Shift };
    var endless = new GenerateOptions { IgnoreEos = true };
    for (int i = 0; i < 3; ++i) {
      model.Session(shift).Generate("A", endless).MoveNext();
      model.Session(shift).GenerateAsync("A", endless);
    }
    // One thread waits within the library when the process ends.
    var reader = new Thread(
        () => model.Session(shift).Generate("A", endless).Text());
    reader.IsBackground = true;
    reader.Start();
    Thread.Sleep(20);
    Console.WriteLine("done");
    if (name == "exits") {
      Environment.Exit(0);
    }
  }
}
