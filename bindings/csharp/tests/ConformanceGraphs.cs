using System.Collections.Generic;
using System.Json;
using System.Linq;
using System.Threading.Tasks;
using Runcible;

/// The steps of cases that record and run graphs, or open beside other work.
partial class Conformance {
  private static T Later<T>(Task<T> task) =>
      task.GetAwaiter().GetResult();

  private Tensor[] Tensors(JsonValue names) =>
      names.Cast<JsonValue>().Select(each => (Tensor)objects[each]).ToArray();

  private void Ran(JsonValue step, Tensor[] outputs) {
    Check.Equal(step["as"].Count, outputs.Length);
    for (int i = 0; i < outputs.Length; ++i) {
      objects[step["as"][i]] = outputs[i];
    }
  }

  private static Tensor Applied(JsonValue op, List<Tensor> values) {
    Tensor x = values[op[1]];
    switch ((string)op[0]) {
      case "add":
        return x + values[op[2]];
      case "mul":
        return x * values[op[2]];
      case "relu":
        return x.Relu();
      default:
        throw new CheckFailed("there is no op " + op[0]);
    }
  }

  private void Record(JsonValue step) {
    objects[step["as"]] = Graph.Record(
        new Backend(step["backend"]), Tensors(step["like"]), inputs => {
          var values = new List<Tensor>(inputs);
          foreach (JsonValue op in step["ops"]) {
            values.Add(Applied(op, values));
          }
          return step["outputs"].Cast<JsonValue>().Select(i => values[i]);
        });
  }

  private static void SwitchBackend(JsonValue step) {
    var backend = new Backend(step["from"]);
    backend.Switch(step["spec"]);
    Check.Equal((string)step["expect"], backend.Device.Id);
  }

  private static void OpenLater(JsonValue step) {
    double told = -1;
    var options = new BackendOptions { Progress = done => told = done };
    Backend backend = Later(Backend.OpenAsync(step["spec"], options));
    Check.Equal(1.0, told);
    Check.Equal((string)step["expect"], backend.Device.Id);
  }
}
