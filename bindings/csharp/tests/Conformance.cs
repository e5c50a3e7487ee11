using System;
using System.Collections.Generic;
using System.IO;
using System.Json;
using System.Linq;
using System.Reflection;
using System.Text.RegularExpressions;
using System.Threading.Tasks;
using Runcible;

/// The cases that every language runs; see bindings/README.md.
static class ConformanceTests {
  public static readonly string Cases =
      Environment.GetEnvironmentVariable("RUNCIBLE_CASES");

  private static readonly List<string> report =
      new List<string> { "language\tC#" };

  public static IEnumerable<KeyValuePair<string, Action>> All() {
    JsonValue document = JsonValue.Parse(File.ReadAllText(Cases));
    foreach (JsonValue one in document["cases"]) {
      JsonValue kept = one;
      yield return new KeyValuePair<string, Action>(one["name"], () => {
        new Conformance(document).Run(kept);
        report.Add("passed\t" + (string)kept["name"]);
      });
    }
  }

  public static void Write() {
    File.WriteAllLines(
        Environment.GetEnvironmentVariable("RUNCIBLE_CASES_REPORT"), report);
  }
}

/// Runs the steps of a case of bindings/conformance/cases.json.
partial class Conformance {
  private readonly JsonValue golden;
  private readonly string folder;
  private readonly Dictionary<string, object> objects =
      new Dictionary<string, object>();

  public Conformance(JsonValue document) {
    string beside = Path.GetDirectoryName(ConformanceTests.Cases);
    golden = JsonValue.Parse(
        File.ReadAllText(Path.Combine(beside, document["golden"])));
    folder = Path.Combine(Path.GetTempPath(), Path.GetRandomFileName());
  }

  public void Run(JsonValue one) {
    Directory.CreateDirectory(folder);
    try {
      foreach (JsonValue step in one["steps"]) {
        Step(step);
      }
    } finally {
      Directory.Delete(folder, true);
    }
  }

  private void Step(JsonValue given) {
    var step = new JsonObject();
    foreach (KeyValuePair<string, JsonValue> member in given) {
      step[member.Key] = Value(member.Value);
    }
    if (!step.ContainsKey("raises")) {
      Act(step);
      return;
    }
    try {
      Act(step);
    } catch (Exception thrown) when (thrown is IRuncibleException) {
      var error = (IRuncibleException)thrown;
      Check.Equal(ClassOf(step["raises"]), error.GetType());
      Check.That(error.Message.Length > 0);
      if (step.ContainsKey("says")) {
        Check.That(error.Message.Contains((string)step["says"]), error.Message);
      }
      if (step.ContainsKey("names")) {
        Check.That(error.Message.Contains(Pascal(step["names"])), error.Message);
      }
      Check.That(!Regex.IsMatch(error.Message, @"\b(rc|RC)_|->"), error.Message);
      if (step.ContainsKey("reason")) {
        Check.Equal(Reason(step), error.Report.Reason);
      }
      return;
    }
    throw new CheckFailed(step + " threw nothing");
  }

  /// What a step means by a value.
  private JsonValue Value(JsonValue given) {
    if (!(given is JsonObject)) {
      return given;
    }
    if (given.ContainsKey("file")) {
      return (string)objects[given["file"]];
    }
    if (!given.ContainsKey("golden")) {
      return given;
    }
    JsonValue found = golden;
    foreach (string key in ((string)given["golden"]).Split('/')) {
      found = found is JsonArray ? found[int.Parse(key)] : found[key];
    }
    return found;
  }

  /// "CONTEXT_FULL" is ContextFull.
  private static string Pascal(string name) => string.Concat(
      name.Split('_', ' ').Select(word =>
          char.ToUpperInvariant(word[0]) + word.Substring(1).ToLowerInvariant()));

  private static Type ClassOf(string status) {
    // Others would be ambiguous beside those of System.
    string name = status == "OUT_OF_MEMORY" ? "HostMemory"
        : status == "TIMEOUT" ? "WaitTimeout"
        : Pascal(status);
    return typeof(IRuncibleException).Assembly.GetType(
        "Runcible." + name + "Exception", true);
  }

  private static EndReason Reason(JsonValue step) =>
      (EndReason)Enum.Parse(typeof(EndReason), Pascal(step["reason"]));

  private static List<string> Texts(JsonValue list) =>
      ((JsonArray)list).Select(each => (string)each).ToList();

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

  private static int[] Ints(JsonValue list) =>
      list.Cast<JsonValue>().Select(each => (int)each).ToArray();

  private static long[] Longs(JsonValue list) =>
      list.Cast<JsonValue>().Select(each => (long)each).ToArray();

  private static float[] Floats(JsonValue list) =>
      list.Cast<JsonValue>().Select(each => (float)(double)each).ToArray();

  /// Options with the properties that JSON names.
  private T With<T>(T options, JsonValue step, string name) {
    if (!step.ContainsKey(name)) {
      return options;
    }
    foreach (KeyValuePair<string, JsonValue> member in (JsonObject)step[name]) {
      PropertyInfo property = typeof(T).GetProperty(Pascal(member.Key));
      Type type = Nullable.GetUnderlyingType(property.PropertyType);
      object value;
      if (property.PropertyType == typeof(Grammar)) {
        value = objects[member.Value];
      } else if (property.PropertyType == typeof(string)) {
        value = member.Value is JsonPrimitive
            ? (string)member.Value : member.Value.ToString();
      } else if (type == typeof(TimeSpan)) {
        value = TimeSpan.FromSeconds(member.Value);
      } else if (type.IsEnum) {
        value = Enum.Parse(type, Pascal(member.Value));
      } else if (type == typeof(bool)) {
        value = (bool)member.Value;
      } else {
        value = Convert.ChangeType((double)member.Value, type);
      }
      property.SetValue(options, value);
    }
    return options;
  }

  private void Act(JsonObject step) {
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
      case "together":
        Task.WaitAll(step["steps"].Cast<JsonValue>()
            .Select(each => Task.Run(() => Step(each))).ToArray());
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
      case "statuses":
        Statuses(step);
        break;
      case "file":
        string path = Path.Combine(folder, step["as"]);
        File.WriteAllText(path, step["text"]);
        objects[step["as"]] = path;
        break;
      case "start":
        objects[step["as"]] = Start(step);
        break;
      case "finish":
        var going = (Generation)objects[step["generation"]];
        going.Dispose();
        Check.Equal(EndReason.Cancelled, going.Report.Reason);
        break;
      case "close":
        ((Handle)objects[step["object"]]).Dispose();
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
      case "tensor":
        long[] shape = Longs(step["shape"]);
        float[] numbers = step.ContainsKey("values")
            ? Floats(step["values"])
            : Enumerable.Repeat(
                (float)(double)step["fill"],
                (int)shape.Aggregate((a, b) => a * b)).ToArray();
        objects[step["as"]] =
            Tensor.From(new Backend(step["backend"]), numbers, shape);
        break;
      case "matmul":
        objects[step["as"]] = TensorOf(step, "a").Matmul(TensorOf(step, "b"));
        break;
      case "quantize":
        TensorOf(step, "tensor").Quantize(
            (Dtype)Enum.Parse(typeof(Dtype), step["dtype"], true));
        break;
      case "read":
        Check.Same(Longs(step["expect_shape"]), TensorOf(step, "tensor").Shape);
        Check.Same(Floats(step["expect"]), TensorOf(step, "tensor").ToFloats());
        break;
      case "record":
        Record(step);
        break;
      case "run":
        Ran(step, ((Graph)objects[step["graph"]]).Run(
            Tensors(step["inputs"]), null));
        break;
      case "run_later":
        Ran(step, Later(((Graph)objects[step["graph"]]).RunAsync(
            Tensors(step["inputs"]))));
        break;
      case "open_later":
        OpenLater(step);
        break;
      case "switch":
        SwitchBackend(step);
        break;
      case "custom_op":
        objects[step["as"]] = new CustomOp(new CustomOpOptions {
          Name = step["name"], Signature = step["signature"],
          Attributes = step["attributes"], Items = step["items"],
          Library = Environment.GetEnvironmentVariable("RUNCIBLE_CUSTOM_OP")
        });
        break;
      case "compute":
        Ran(step, ((CustomOp)objects[step["op"]]).Compute(
            Tensors(step["inputs"]), (double)step["scale"]));
        break;
      case "discover_later":
        Check.That(Later(Backend.DiscoverAsync()).Devices.Any(
            device => device.Id == (string)step["expect"]));
        break;
      case "grammar":
        objects[step["as"]] = GrammarOf(step);
        break;
      case "chat":
        objects[step["as"]] = Session(step).Chat(
            With(new ChatOptions(), step, "options"));
        break;
      case "add":
        Chat(step).Add(step["messages"].ToString());
        break;
      case "undo":
        Chat(step).Undo(step["count"]);
        break;
      case "messages":
        Check.That(
            Same(step["expect"], JsonValue.Parse(Chat(step).Messages())),
            Chat(step).Messages());
        break;
      case "fork_chat":
        objects[step["as"]] = Chat(step).Fork();
        break;
      case "answer":
        AnswerStream answer =
            Chat(step).Answer(With(new GenerateOptions(), step, "options"));
        CheckReply(step, answer.ReplyAsync().GetAwaiter().GetResult());
        break;
      case "ask":
        CheckReply(
            step,
            Chat(step).Ask(
                step["text"], With(new GenerateOptions(), step, "options")));
        break;
      default:
        throw new CheckFailed("there is no step " + step);
    }
  }

  private Chat Chat(JsonValue step) => (Chat)objects[step["chat"]];

  private Grammar GrammarOf(JsonValue step) {
    using (Tokenizer tokenizer = Model(step).Tokenizer()) {
      switch ((string)step["kind"]) {
        case "json_schema":
          return Grammar.JsonSchema(
              tokenizer, step["schema"].ToString(),
              With(new GrammarOptions(), step, "options"));
        case "regex":
          return Grammar.Regex(tokenizer, step["text"]);
        case "gbnf":
          return Grammar.Gbnf(tokenizer, step["text"]);
        case "lark":
          return Grammar.Lark(tokenizer, step["text"]);
        default:
          return Grammar.Choices(
              tokenizer,
              step["choices"].Cast<JsonValue>().Select(each => (string)each));
      }
    }
  }

  private static void CheckReply(JsonValue step, Reply reply) {
    JsonValue expected = step["expect"];
    Check.Equal((string)expected["text"], reply.Text);
    Check.Equal((string)expected["reasoning"], reply.Reasoning);
    Check.Equal(expected["calls"].Count, reply.ToolCalls.Count);
    for (int i = 0; i < reply.ToolCalls.Count; ++i) {
      JsonValue call = expected["calls"][i];
      Check.Equal((string)call["id"], reply.ToolCalls[i].Id);
      Check.Equal((string)call["name"], reply.ToolCalls[i].Name);
      Check.That(Same(
          call["arguments"], JsonValue.Parse(reply.ToolCalls[i].Arguments)));
    }
    Check.Equal(Reason(step), reply.Report.Reason);
  }

  /// Whether two values of JSON are the same, in whatever order their members
  /// are.
  private static bool Same(JsonValue one, JsonValue other) {
    if (one is JsonObject members) {
      return other is JsonObject && members.Count == other.Count
          && members.Keys.All(key =>
              other.ContainsKey(key) && Same(members[key], other[key]));
    }
    if (one is JsonArray list) {
      return other is JsonArray && list.Count == other.Count
          && Enumerable.Range(0, list.Count).All(i => Same(list[i], other[i]));
    }
    return one.ToString() == other.ToString();
  }

  private Model Model(JsonValue step) => (Model)objects[step["model"]];

  private Session Session(JsonValue step) => (Session)objects[step["session"]];

  private Tensor TensorOf(JsonValue step, string name) =>
      (Tensor)objects[step[name]];

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

  private static void Statuses(JsonValue step) {
    Type errors = typeof(IRuncibleException).Assembly.GetType("Runcible.Errors");
    MethodInfo of = errors.GetMethod(
        "Of", BindingFlags.NonPublic | BindingFlags.Static);
    foreach (KeyValuePair<string, JsonValue> member in
             (JsonObject)step["expect"]) {
      var error = (IRuncibleException)of.Invoke(
          null, new object[] { (int)member.Value, "a message", null });
      Check.Equal(ClassOf(member.Key), error.GetType());
      Check.Equal((int)member.Value, error.Status);
      Check.Equal("a message", error.Message);
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
