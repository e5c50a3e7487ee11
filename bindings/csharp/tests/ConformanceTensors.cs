using System;
using System.Collections.Generic;
using System.Json;
using System.Linq;
using System.Threading.Tasks;
using Runcible;

/// The steps of tensors, graphs and backends.
partial class Conformance {
  private bool ActOnTensors(JsonObject step) {
    switch ((string)step["do"]) {
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
      case "pinned":
        Pin(step);
        break;
      case "from_pinned":
        objects[step["as"]] = Tensor.From(
            new Backend(step["backend"]), PinnedOf(step).GetSpan(),
            Longs(step["shape"]));
        break;
      case "borrow_pinned":
        objects[step["as"]] = Tensor.Borrow(
            new Backend(step["backend"]), PinnedOf(step),
            Longs(step["shape"]));
        break;
      case "write_pinned":
        Floats(step["values"]).CopyTo(PinnedOf(step).Memory);
        break;
      case "read_into":
        TensorOf(step, "tensor").Read(PinnedOf(step).GetSpan());
        Check.Same(Floats(step["expect"]), PinnedOf(step).Memory.ToArray());
        break;
      case "drop_pinned":
        PinnedOf(step).Dispose();
        break;
      default:
        return false;
    }
    return true;
  }

  private Pinned<float> PinnedOf(JsonValue step) =>
      (Pinned<float>)objects[step["memory"]];

  private void Pin(JsonObject step) {
    long count = Longs(step["shape"]).Aggregate((a, b) => a * b);
    var memory = new Pinned<float>(
        new Backend(step["backend"]), (int)count,
        step.ContainsKey("device") ? (string)step["device"] : "");
    Check.That(memory.Memory.ToArray().All(each => each == 0));
    Floats(step["values"]).CopyTo(memory.Memory);
    objects[step["as"]] = memory;
  }

  private Tensor TensorOf(JsonValue step, string name) =>
      (Tensor)objects[step[name]];

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
