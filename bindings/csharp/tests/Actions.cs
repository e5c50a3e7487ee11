using System;
using System.Collections.Generic;
using System.IO;
using System.Json;
using System.Linq;
using System.Threading.Tasks;
using Runcible;

using Map = System.Collections.Generic.Dictionary<string, object>;
using List = System.Collections.Generic.List<object>;

/// Steps that are not one method call, or have another name in C#.
partial class Conformance {
  private Dictionary<string, Func<object, List, Map, JsonObject, object>> actions;

  private static object Nothing(Action action) {
    action();
    return null;
  }

  private void FindActions() {
    actions = new Dictionary<string, Func<object, List, Map, JsonObject, object>> {
      ["together"] = (on, given, options, step) => Nothing(() => Task.WaitAll(
          step["steps"].Cast<JsonObject>()
              .Select(each => Task.Run(() => Step(each))).ToArray())),
      ["statuses"] = (on, given, options, step) => Nothing(() => Statuses((Map)given[0])),
      ["file"] = (on, given, options, step) =>
          Nothing(() => File.WriteAllText((string)given[0], (string)given[1])),
      ["close"] = (on, given, options, step) => Nothing(((Handle)on).Dispose),
      ["drop"] = (on, given, options, step) =>
          Nothing(((IDisposable)objects[(string)given[0]]).Dispose),
      ["generate"] = (on, given, options, step) => {
        Generation generation = Start((Session)on, given, options);
        return new Map { ["text"] = generation.Text(), ["report"] = generation.Report };
      },
      ["stream"] = (on, given, options, step) =>
          Stream((Session)on, given, options, step).GetAwaiter().GetResult(),
      ["start"] = (on, given, options, step) => Start((Session)on, given, options),
      ["leave"] = (on, given, options, step) => {
        Generation left = Start((Session)on, given, options);
        left.MoveNext();
        return left;
      },
      ["close_all"] = (on, given, options, step) => Nothing(
          () => given.ForEach(name => ((IDisposable)objects[(string)name]).Dispose())),
      ["finish"] = (on, given, options, step) => {
        ((Generation)on).Dispose();
        return on;
      },
      ["answer"] = (on, given, options, step) =>
          ((Chat)on).Answer(Calls.Options<GenerateOptions>(options))
              .ReplyAsync().GetAwaiter().GetResult(),
      ["embed"] = (on, given, options, step) => {
        var texts = given.Cast<List>().Single().Cast<string>().ToList();
        float[][] rows = ((Model)on).Embed(texts);
        float[][] later = ((Model)on).EmbedAsync(texts).Result;
        Check.That(rows.Zip(later, (a, b) => a.SequenceEqual(b)).All(same => same));
        return rows;
      },
      ["logits"] = (on, given, options, step) =>
          Row(((Session)on).Logits(), Convert.ToInt32(given[0])),
      ["save_bytes"] = (on, given, options, step) => ((Session)on).Save(),
      ["restore_bytes"] = (on, given, options, step) =>
          Session.Restore((Model)given[0], (byte[])given[1]),
      ["metadata"] = (on, given, options, step) => ((Model)on).Metadata().ToDictionary(
          each => each.Key, each => Plain(JsonValue.Parse(each.Value))),
      ["discover"] = (on, given, options, step) => Backend.Discover(),
      ["discover_later"] = (on, given, options, step) => Later(Backend.DiscoverAsync()),
      ["metrics"] = (on, given, options, step) =>
          on is Tenant tenant ? tenant.Metrics() : Tenant.AllMetrics(),
      ["open_metrics"] = (on, given, options, step) =>
          on is Tenant tenant ? tenant.OpenMetrics() : Tenant.AllOpenMetrics(),
      ["plan"] = (on, given, options, step) =>
          Calls.Call(typeof(Model), "plan", given, options),
      ["verify"] = (on, given, options, step) =>
          Nothing(() => Model.Verify((string)given[0])),
      ["open_later"] = (on, given, options, step) => {
        double done = -1;
        Backend backend = Later(Backend.OpenAsync(
            (string)given[0], new BackendOptions { Progress = fraction => done = fraction }));
        Check.Equal(1.0, done);
        return backend;
      },
      ["Tensor.of"] = (on, given, options, step) => options == null
          ? Tensor.From((Backend)given[2], Floats(given[0]), Longs(given[1]))
          : Tensor.From((Backend)given[2], ((List)given[0]).Select(Convert.ToInt32).ToArray(),
                        Longs(given[1])),
      ["Tensor.ones"] = (on, given, options, step) =>
          Tensor.Ones((Backend)given[1], Dtype.F32, Longs(given[0])),
      ["Tensor.random"] = (on, given, options, step) => Tensor.Random(
          (Backend)given[1], Calls.Options<RandomOptions>(options), Longs(given[0])),
      ["conv2d"] = WithoutOptionalTensor,
      ["fused_linear"] = WithoutOptionalTensor,
      ["rope"] = WithoutOptionalTensor,
      ["record"] = (on, given, options, step) => Graph.Record(
          (Backend)given[0], Tensors(given[1]), inputs => {
            var values = new List<Tensor>(inputs);
            values.AddRange(given.Count > 4 ? Tensors(given[4]) : new Tensor[0]);
            foreach (List op in (List)given[2]) {
              values.Add(Applied(op, values));
              objects["recorded"] = values.Last();
            }
            return ((List)given[3]).Select(i => values[Convert.ToInt32(i)]);
          }),
      ["run"] = (on, given, options, step) => ((Graph)on).Run(Tensors(given[0]), null),
      ["run_later"] = (on, given, options, step) =>
          Later(((Graph)on).RunAsync(Tensors(given[0]), options == null
              ? (TimeSpan?)null : TimeSpan.FromSeconds(Convert.ToDouble(options["deadline"])))),
      ["switch_later"] = (on, given, options, step) => Nothing(
          () => ((Backend)on).SwitchAsync(
              (string)given[0], Calls.Options<BackendSwitchOptions>(options)).GetAwaiter().GetResult()),
      ["CustomOp.of"] = (on, given, options, step) => {
        var made = Calls.Options<CustomOpOptions>(options);
        made.Library = Environment.GetEnvironmentVariable("RUNCIBLE_CUSTOM_OP");
        return new CustomOp(made);
      },
      ["compute"] = (on, given, options, step) => ((CustomOp)on).Compute(
          Tensors(given[0]), Convert.ToDouble(options["scale"])),
      ["Pinned.of"] = (on, given, options, step) => {
        float[] values = Floats(given[0]);
        var memory = new Pinned<float>(
            (Backend)given[1], values.Length, given.Count > 2 ? (string)given[2] : "");
        Check.That(memory.Memory.ToArray().All(each => each == 0));
        values.CopyTo(memory.Memory);
        return memory;
      },
      ["from_pinned"] = (on, given, options, step) => Tensor.From(
          (Backend)given[2], ((Pinned<float>)given[0]).GetSpan(), Longs(given[1])),
      ["borrow_pinned"] = (on, given, options, step) => Tensor.Borrow(
          (Backend)given[2], (Pinned<float>)given[0], Longs(given[1])),
      ["write_pinned"] = (on, given, options, step) =>
          Nothing(() => Floats(given[0]).CopyTo(((Pinned<float>)on).Memory)),
      ["read_into"] = (on, given, options, step) => {
        var memory = (Pinned<float>)given[0];
        ((Tensor)on).Read(memory.GetSpan());
        return memory.Memory.ToArray();
      },
    };
  }

  private object Plain(JsonValue value) =>
      value is JsonArray list ? list.Select(Plain).ToList()
      : value.JsonType == JsonType.String ? (string)value
      : Value(value);

  private static object WithoutOptionalTensor(
      object on, List given, Map options, JsonObject step) {
    given.Insert(1, null);
    return Calls.Call(on, ((string)step["do"]).Split('.')[1], given, options);
  }

  private static T Later<T>(Task<T> task) => task.GetAwaiter().GetResult();

  private static Tensor[] Tensors(object given) => ((List)given).Cast<Tensor>().ToArray();

  private static long[] Longs(object given) => ((List)given).Cast<long>().ToArray();

  private static float[] Floats(object given) =>
      ((List)given).Select(Convert.ToSingle).ToArray();

  private static string Prompt(List given, GenerateOptions options) {
    if (given.FirstOrDefault() is List tokens) {
      options.PromptTokens = tokens.Select(Convert.ToInt32).ToArray();
    }
    return given.FirstOrDefault() as string;
  }

  private static Generation Start(Session session, List given, Map options) {
    var made = Calls.Options<GenerateOptions>(options);
    return session.Generate(Prompt(given, made), made);
  }

  private static async Task<object> Stream(
      Session session, List given, Map options, JsonObject step) {
    var made = Calls.Options<GenerateOptions>(options);
    PieceStream stream = session.Stream(Prompt(given, made), made);
    var pieces = new List<Piece>();
    await stream.ForEachAsync(piece => {
      pieces.Add(piece);
      if (step.ContainsKey("cancel_after") && pieces.Count == (int)step["cancel_after"]) {
        stream.Cancel();
      }
    });
    return new Map {
      ["text"] = string.Concat(pieces.Select(each => each.Text)),
      ["pieces"] = pieces,
      ["report"] = stream.Report
    };
  }

  private static object Row(float[,] logits, int row) {
    double sum = 0;
    int largest = 0;
    for (int i = 0; i < logits.GetLength(1); ++i) {
      sum += logits[row, i];
      largest = logits[row, i] > logits[row, largest] ? i : largest;
    }
    return new Map {
      ["rows"] = logits.GetLength(0), ["vocabulary"] = logits.GetLength(1),
      ["largest"] = largest, ["sum"] = sum
    };
  }

  private static Tensor Applied(List op, List<Tensor> values) {
    Tensor[] given = op.Skip(1).Select(i => values[Convert.ToInt32(i)]).ToArray();
    switch ((string)op[0]) {
      case "add":
        return given[0] + given[1];
      case "mul":
        return given[0] * given[1];
      default:
        return (Tensor)Calls.Call(given[0], (string)op[0], new List(), null);
    }
  }
}
