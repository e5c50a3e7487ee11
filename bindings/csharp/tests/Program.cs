using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Reflection;

/// Runs the cases of all languages, and every method of the test classes whose
/// name begins with "Test"; or, in a child process, the program in an argument.
static class Program {
  static int Main(string[] arguments) {
    if (arguments.Length > 0) {
      Children.Run(arguments[0]);
      return 0;
    }
    var tests = new List<KeyValuePair<string, Action>>();
    tests.AddRange(ConformanceTests.All());
    foreach (Type type in new[] {
        typeof(PackageTests), typeof(StreamTests), typeof(GraphTests),
        typeof(CustomTests), typeof(PinnedTests), typeof(FaultsTests),
        typeof(JsonTests) }) {
      object instance = Activator.CreateInstance(type);
      foreach (MethodInfo method in type.GetMethods()) {
        if (method.Name.StartsWith("Test")) {
          tests.Add(new KeyValuePair<string, Action>(
              type.Name + "." + method.Name,
              (Action)Delegate.CreateDelegate(
                  typeof(Action), instance, method)));
        }
      }
    }
    int failed = 0;
    foreach (var test in tests) {
      var watch = Stopwatch.StartNew();
      try {
        test.Value();
        if (watch.ElapsedMilliseconds > 2000) {
          Console.WriteLine(
              test.Key + ": " + watch.ElapsedMilliseconds + " ms");
        }
      } catch (Exception failure) {
        ++failed;
        Console.Error.WriteLine("FAILED " + test.Key + "\n" + failure);
      }
    }
    ConformanceTests.Write();
    Console.WriteLine(tests.Count - failed + " tests passed, " + failed
        + " failed");
    return failed == 0 ? 0 : 1;
  }
}
