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
        value = (string)member.Value;
      } else if (property.PropertyType == typeof(object)) {
        value = Plain(member.Value);
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

  /// Returns the objects of a program for JSON: dictionaries, lists, and texts, which
  /// are JSON themselves where they stand alone.
  private static object Plain(JsonValue value) {
    if (value is JsonObject members) {
      return members.ToDictionary(each => each.Key, each => Plain(each.Value));
    }
    if (value is JsonArray items) {
      return items.Select(Plain).ToList();
    }
    return value != null && value.JsonType == JsonType.String
        ? (string)value : (object)value;
  }

  private void Act(JsonObject step) {
    switch ((string)step["do"]) {
      case "together":
        Task.WaitAll(step["steps"].Cast<JsonValue>()
            .Select(each => Task.Run(() => Step(each))).ToArray());
        break;
      case "statuses":
        Statuses(step);
        break;
      case "file":
        string path = Path.Combine(folder, step["as"]);
        File.WriteAllText(path, step["text"]);
        objects[step["as"]] = path;
        break;
      case "close":
        ((Handle)objects[step["object"]]).Dispose();
        break;
      default:
        Check.That(
            ActOnTexts(step) || ActOnChats(step) || ActOnTensors(step),
            "there is no step " + (string)step["do"]);
        break;
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
}
