using System;
using System.Collections;
using System.Collections.Generic;
using System.IO;
using System.Json;
using System.Linq;
using System.Reflection;
using System.Text.RegularExpressions;
using System.Threading.Tasks;
using Runcible;

using Map = System.Collections.Generic.Dictionary<string, object>;
using List = System.Collections.Generic.List<object>;

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

/// Runs the steps of a case in bindings/conformance; see README.md there.
partial class Conformance {
  private readonly JsonValue golden;
  private readonly string folder;
  private readonly Map objects = new Map();

  public Conformance(JsonValue document) {
    string cases = Path.GetDirectoryName(ConformanceTests.Cases);
    golden = JsonValue.Parse(
        File.ReadAllText(Path.Combine(cases, document["golden"])));
    folder = Path.Combine(Path.GetTempPath(), Path.GetRandomFileName());
    FindActions();
  }

  public void Run(JsonValue one) {
    Directory.CreateDirectory(folder);
    try {
      foreach (JsonObject step in one["steps"]) {
        Step(step);
      }
    } finally {
      Directory.Delete(folder, true);
    }
  }

  private static string TextOf(JsonValue step, string name) =>
      step.ContainsKey(name) ? (string)step[name] : "";

  private void Step(JsonObject step) {
    if (step.ContainsKey("except") && step["except"].Cast<JsonValue>().Any(each => each == "C#")) {
      return;
    }
    if (!step.ContainsKey("raises")) {
      Act(step);
      return;
    }
    if (TextOf(step, "raises") == "TYPE" || TextOf(step, "raises") == "VALUE") {
      return; // which the compiler refuses
    }
    try {
      Act(step);
    } catch (Exception thrown) when (thrown is IRuncibleException) {
      var error = (IRuncibleException)thrown;
      Check.Equal(ClassOf(step["raises"]), error.GetType());
      Check.That(error.Message.Length > 0);
      Check.That(error.Message.Contains(TextOf(step, "says")), error.Message);
      Check.That(
          error.Message.StartsWith(Calls.Pascal(TextOf(step, "names"))), error.Message);
      Check.That(!Regex.IsMatch(error.Message, @"\b(rc|RC)_|->"), error.Message);
      if (step.ContainsKey("retries")) {
        Check.Equal((bool)step["retries"], error.RetryAfter.HasValue);
      }
      if (step.ContainsKey("reason")) {
        Compare(error.Report.Reason, TextOf(step, "reason"), "reason");
      }
      return;
    }
    throw new CheckFailed(step + " threw nothing");
  }

  private static Type ClassOf(string status) {
    // These two have other names, as those of System would be ambiguous.
    string name = status == "OUT_OF_MEMORY" ? "HostMemory"
        : status == "TIMEOUT" ? "WaitTimeout"
        : Calls.Pascal(status);
    return typeof(IRuncibleException).Assembly.GetType(
        "Runcible." + name + "Exception", true);
  }

  private void Act(JsonObject step) {
    object found = Call(step);
    if (step.ContainsKey("as") && step["as"] is JsonArray names) {
      List made = Calls.ListOf(found);
      Check.Equal(names.Count, made.Count);
      for (int i = 0; i < made.Count; ++i) {
        lock (objects) {
          objects[names[i]] = made[i];
        }
      }
    } else if (step.ContainsKey("as")) {
      objects[step["as"]] = found;
    }
    if (step.ContainsKey("expect")) {
      Compare(found, Value(step["expect"]), step["do"]);
    }
  }

  /// Makes the call of a step, on an object or a class.
  private object Call(JsonObject step) {
    string[] called = ((string)step["do"]).Split('.');
    List given = step.ContainsKey("with") ? (List)Value(step["with"]) : new List();
    Map options = step.ContainsKey("options") ? (Map)Value(step["options"]) : null;
    object target;
    if (!objects.TryGetValue(called[0], out target)) {
      target = typeof(Backend).Assembly.GetType("Runcible." + called[0]);
    }
    Func<object, List, Map, JsonObject, object> own;
    if (actions.TryGetValue(step["do"], out own)
        || actions.TryGetValue(called.Last(), out own)) {
      return own(target, given, options, step);
    }
    return called.Length == 1 ? target : Calls.Call(target, called[1], given, options);
  }

  /// Returns the value that a step gives: "$name" is an object.
  private object Value(JsonValue given) {
    if (given is JsonArray items) {
      return items.Select(Value).ToList();
    }
    if (given is JsonObject members) {
      return members.ToDictionary(each => each.Key, each => Value(each.Value));
    }
    if (given == null || given.JsonType == JsonType.Boolean) {
      return given == null ? null : (object)(bool)given;
    }
    if (given.JsonType == JsonType.Number) {
      double number = (double)given;
      return Math.Floor(number) == number && Math.Abs(number) < 1e15
          ? (object)(long)number : number;
    }
    string text = given;
    if (!text.StartsWith("$")) {
      return text;
    }
    string[] parts = text.Substring(1).Split(new[] { '/' }, 2);
    switch (parts[0]) {
      case "golden":
        JsonValue found = golden;
        foreach (string key in parts[1].Split('/')) {
          found = found is JsonArray ? found[int.Parse(key)] : found[key];
        }
        return Value(found);
      case "path":
        return Path.Combine(folder, parts[1]);
      case "backend":
        return new Backend(parts[1]);
      default:
        return parts.Length == 1 ? objects[parts[0]] : Member(objects[parts[0]], parts[1]);
    }
  }

  /// Checks that the found value contains the expected one.
  private void Compare(object found, object expected, string what) {
    if (expected is List all) {
      List list = Calls.ListOf(found);
      Check.That(all.Count == list.Count, what + " has " + list.Count);
      for (int i = 0; i < all.Count; ++i) {
        Compare(list[i], all[i], what + "[" + i + "]");
      }
    } else if (expected is Map members) {
      foreach (var each in members.Where(one => one.Key != "$by")) {
        if (each.Key.StartsWith("$")) {
          object by = members.ContainsKey("$by") ? members["$by"] : null;
          Relate(each.Key, found, each.Value, by, what);
        } else {
          Compare(Member(found, each.Key), each.Value, what + "." + each.Key);
        }
      }
    } else if (expected is long || expected is double) {
      Check.That(Number(found) == Number(expected), what + ": " + found);
    } else if (found is Enum) {
      Check.Equal(
          ((string)expected).Replace(" ", "").Replace("_", ""),
          found.ToString().Replace("_", "").ToLowerInvariant());
    } else if (expected is float) {
      Check.Equal((float)expected, (float)found);
    } else {
      Check.That(Equals(expected, found), what + ": " + found + " instead of " + expected);
    }
  }

  private static double Number(object found) => Convert.ToDouble(found);

  private object Member(object found, string name) {
    if (found is string json) {
      return Member(Value(JsonValue.Parse(json)), name);
    }
    if (found is Map map) {
      return map[name];
    }
    if (found is Logprob logprob && name == "logprob") {
      return logprob.Number;
    }
    if (found is Tensor tensor && name == "numbers") {
      return Calls.ListOf(tensor.ToFloats());
    }
    PropertyInfo property = found.GetType().GetProperty(Calls.Pascal(name));
    return property == null ? Calls.Call(found, name, new List(), null)
                            : property.GetValue(found);
  }

  private bool Passes(object found, object wanted) {
    try {
      Compare(found, wanted, "");
      return true;
    } catch (CheckFailed) {
      return false;
    }
  }

  private void Relate(string name, object found, object wanted, object by, string what) {
    string said = what + ": " + found + " " + name + " " + wanted;
    switch (name) {
      case "$same":
        Check.That(Same(wanted, Value(JsonValue.Parse((string)found))), said);
        break;
      case "$not":
        Check.That(!Equals(found, wanted), said);
        break;
      case "$near":
        List numbers = wanted is List ? Calls.ListOf(found) : new List { found };
        List expected = wanted as List ?? new List { wanted };
        for (int i = 0; i < expected.Count; ++i) {
          Check.Near(Number(expected[i]), Number(numbers[i]), Number(by));
        }
        break;
      case "$least":
        Check.That(Number(found) >= Number(wanted), said);
        break;
      case "$most":
        Check.That(Number(found) <= Number(wanted), said);
        break;
      case "$count":
        Compare(Calls.ListOf(found).Count, wanted, what + " count");
        break;
      case "$some":
        Check.That(Calls.ListOf(found).Any(each => Passes(each, wanted)), said);
        break;
      case "$any":
        Check.That(((List)wanted).Any(each => Passes(found, each)), said);
        break;
      case "$all":
        Calls.ListOf(found).ForEach(each => Compare(each, wanted, what));
        break;
      case "$start_of":
        var start = (string)found;
        Check.That(
            start != "" && ((string)wanted).StartsWith(start, StringComparison.Ordinal), said);
        break;
      case "$but_last":
        List tokens = Calls.ListOf(found);
        Compare(tokens, ((List)wanted).Take(tokens.Count).ToList(), what);
        Check.That(tokens.Count >= ((List)wanted).Count - 1, said);
        break;
      default:
        throw new CheckFailed("there is no comparison " + name);
    }
  }

  /// Whether two JSON values are equal, whatever the order of their members.
  private static bool Same(object one, object other) {
    if (one is Map members) {
      return other is Map map && members.Count == map.Count
          && members.Keys.All(key => map.ContainsKey(key) && Same(members[key], map[key]));
    }
    if (one is List list) {
      return other is List items && list.Count == items.Count
          && Enumerable.Range(0, list.Count).All(i => Same(list[i], items[i]));
    }
    return Equals(one, other);
  }

  private static void Statuses(Map numbers) {
    Type errors = typeof(IRuncibleException).Assembly.GetType("Runcible.Errors");
    MethodInfo of = errors.GetMethod(
        "Of", BindingFlags.NonPublic | BindingFlags.Static);
    foreach (KeyValuePair<string, object> member in numbers) {
      int number = Convert.ToInt32(member.Value);
      var error = (IRuncibleException)of.Invoke(
          null, new object[] { number, "a message", null, null });
      Check.Equal(ClassOf(member.Key), error.GetType());
      Check.Equal(number, error.Status);
      Check.Equal("a message", error.Message);
    }
  }
}
