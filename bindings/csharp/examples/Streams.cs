using System;
using System.Linq;
using System.Text;
using System.Threading.Tasks;
using Runcible;

/// Generates several texts at once without a thread for each: prints each text,
/// sentence by sentence, as it comes.
///
///     mcs -r:runcible/lib/Runcible.dll Streams.cs
///     MONO_PATH=runcible/lib mono Streams.exe [MODEL.gguf]
static class Streams {
  static void Main(string[] arguments) {
    string path = arguments.Length > 0 ? arguments[0] : "builtin:fable";
    using (var backend = new Backend())
    using (Model model = Model.LoadAsync(path, backend).Result) {
      var beginnings = new[] { "A fox", "A goose", "A bear" };
      Task.WaitAll(
          beginnings.Select(beginning => Continue(model, beginning)).ToArray());
    }
  }

  static async Task Continue(Model model, string beginning) {
    using (var session = model.Session()) {
      var sentence = new StringBuilder(beginning);
      var options = new GenerateOptions { MaxTokens = 80 };
      // From C# 8 on: await foreach (Piece piece in session.Stream(...)).
      await session.Stream(beginning, options).ForEachAsync(piece => {
        sentence.Append(piece);
        if (piece.Text.EndsWith(".")) {
          Console.WriteLine(sentence.ToString().Trim());
          sentence.Clear();
        }
      });
      Console.WriteLine(sentence.ToString().Trim() + " ...");
    }
  }
}
