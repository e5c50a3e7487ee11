using System;
using System.Collections.Generic;
using System.Json;
using System.IO;
using System.Linq;
using System.Threading.Tasks;
using Runcible;

/// The steps of models, sessions and what they write.
partial class Conformance {
  private bool ActOnTexts(JsonObject step) {
    switch ((string)step["do"]) {
      case "load":
        var backend = new Backend(
            step["backend"],
            With(new BackendOptions(), step, "backend_options"));
        objects[step["as"]] = step.ContainsKey("hub")
            ? Runcible.Model.FromHub((string)step["hub"], backend)
            : new Model(
                step.ContainsKey("path") ? (string)step["path"]
                                         : "builtin:fable",
                backend);
        break;
      case "embed":
        Embed(step);
        break;
      case "rerank":
        Near(
            Model(step).Rerank(step["query"], Texts(step["documents"])),
            step["expect"]);
        break;
      case "report":
        Report(step);
        break;
      case "tokenize":
        Check.Same(
            Ints(step["expect"]),
            Model(step).Tokenize(step["text"], addSpecial: false));
        break;
      case "detokenize":
        Check.Equal(
            (string)step["expect"],
            Model(step).Detokenize(Ints(step["tokens"])));
        break;
      case "session":
        objects[step["as"]] = Model(step).Session(
            With(new SessionOptions(), step, "options"));
        break;
      case "generate":
        Generation generation = Start(step);
        CheckText(step, generation.Text());
        Check.Equal(Reason(step), generation.Report.Reason);
        break;
      case "stream":
        Stream(step).GetAwaiter().GetResult();
        break;
      case "tokens":
        // The end token ends a text and is no part of the session.
        int[] tokens = Session(step).Tokens();
        int[] expected = Ints(step["expect"]);
        Check.Same(expected.Take(tokens.Length), tokens);
        Check.That(tokens.Length >= expected.Length - 1);
        break;
      case "append":
        if (step.ContainsKey("text")) {
          Session(step).Append((string)step["text"]);
        } else {
          Session(step).Append(Ints(step["tokens"]));
        }
        break;
      case "start":
        objects[step["as"]] = Start(step);
        break;
      case "finish":
        var going = (Generation)objects[step["generation"]];
        going.Dispose();
        Check.Equal(EndReason.Cancelled, going.Report.Reason);
        break;
      case "save":
        string saved = Path.Combine(folder, "session.gguf");
        Session(step).Save(saved);
        objects[step["as"]] = saved;
        break;
      case "restore":
        objects[step["as"]] = Runcible.Session.Restore(
            Model(step), (string)objects[step["saved"]]);
        break;
      case "fork":
        objects[step["as"]] = Session(step).Fork();
        break;
      case "decode":
        Session(step).Decode(step["all_logits"]);
        break;
      case "logits":
        Logits(step);
        break;
      default:
        return false;
    }
    return true;
  }

  private Model Model(JsonValue step) => (Model)objects[step["model"]];

  private Session Session(JsonValue step) => (Session)objects[step["session"]];

  private static void Near(float[] row, JsonValue expected) {
    for (int i = 0; i < expected.Count; ++i) {
      Check.That(Math.Abs(row[i] - (double)expected[i]) < 2e-3);
    }
  }

  private void Embed(JsonObject step) {
    List<string> texts = Texts(step["texts"]);
    float[][] rows = Model(step).Embed(texts);
    Check.Equal(step["expect"].Count, rows.Length);
    float[][] later = Model(step).EmbedAsync(texts).Result;
    for (int i = 0; i < rows.Length; ++i) {
      Near(rows[i], step["expect"][i]);
      Check.That(rows[i].SequenceEqual(later[i]));
    }
  }

  private void Report(JsonValue step) {
    ModelReport report = Model(step).Report;
    foreach (KeyValuePair<string, JsonValue> member in
             (JsonObject)step["expect"]) {
      object value =
          typeof(ModelReport).GetProperty(Pascal(member.Key)).GetValue(report);
      if (value is string) {
        Check.Equal((string)member.Value, (string)value);
      } else {
        Check.Equal((long)member.Value, (long)value);
      }
    }
  }

  private static string Prompt(JsonValue step, GenerateOptions options) {
    if (!step.ContainsKey("prompt")) {
      return null;
    }
    if (step["prompt"] is JsonArray) {
      options.PromptTokens = Ints(step["prompt"]);
      return null;
    }
    return step["prompt"];
  }

  private Generation Start(JsonValue step) {
    GenerateOptions options = With(new GenerateOptions(), step, "options");
    return Session(step).Generate(Prompt(step, options), options);
  }

  private async Task Stream(JsonValue step) {
    GenerateOptions options = With(new GenerateOptions(), step, "options");
    PieceStream stream = Session(step).Stream(Prompt(step, options), options);
    var pieces = new List<string>();
    await stream.ForEachAsync(piece => {
      pieces.Add(piece.Text);
      if (step.ContainsKey("cancel_after")
          && pieces.Count == (int)step["cancel_after"]) {
        stream.Cancel();
      }
    });
    CheckText(step, string.Concat(pieces));
    Check.That(
        !step.ContainsKey("pieces") || pieces.Count >= (int)step["pieces"]);
    Check.Equal(Reason(step), stream.Report.Reason);
  }

  private static void CheckText(JsonValue step, string text) {
    Check.That(text.Length > 0);
    if (step.ContainsKey("expect")) {
      Check.Equal((string)step["expect"], text);
    }
    if (step.ContainsKey("expect_start_of")) {
      Check.That(
          ((string)step["expect_start_of"]).StartsWith(
              text, StringComparison.Ordinal),
          text);
    }
  }

  private void Logits(JsonValue step) {
    float[,] logits = Session(step).Logits();
    Check.Equal((int)step["rows"], logits.GetLength(0));
    Check.Equal((int)step["vocabulary"], logits.GetLength(1));
    double sum = 0;
    int row = step["row"];
    int largest = 0;
    for (int i = 0; i < logits.GetLength(1); ++i) {
      sum += logits[row, i];
      largest = logits[row, i] > logits[row, largest] ? i : largest;
    }
    Check.Equal((int)step["largest"], largest);
    double expected = step["sum"];
    Check.Near(
        expected, sum, Math.Abs(expected) * (double)step["tolerance"]);
  }
}
