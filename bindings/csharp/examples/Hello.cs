using System;
using Runcible;

/// The smallest program: loads a model and prints a text that it generates.
///
///     mcs -r:runcible/lib/Runcible.dll Hello.cs
///     MONO_PATH=runcible/lib mono Hello.exe [MODEL.gguf [PROMPT]]
static class Hello {
  static void Main(string[] arguments) {
    string path = arguments.Length > 0 ? arguments[0] : "builtin:fable";
    string prompt = arguments.Length > 1 ? arguments[1] : "Once upon a time";
    using (var model = new Model(path))
    using (var session = model.Session()) {
      var options = new GenerateOptions { Echo = true, MaxTokens = 200 };
      foreach (Piece piece in session.Generate(prompt, options)) {
        Console.Write(piece);
      }
      Console.WriteLine();
    }
  }
}
