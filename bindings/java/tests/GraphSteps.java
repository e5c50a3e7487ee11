import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import runcible.Backend;
import runcible.BackendOptions;
import runcible.CustomOp;
import runcible.CustomOpOptions;
import runcible.Graph;
import runcible.Tensor;

/** The steps of cases that record and run graphs, or open beside other work. */
final class GraphSteps {
  private final JsonObject step;
  private final Map<String, Object> objects;

  private GraphSteps(Step step) {
    this.step = step.json;
    this.objects = step.objects;
  }

  /** False if the step is another's. */
  static boolean act(Step given) throws Exception {
    GraphSteps steps = new GraphSteps(given);
    JsonObject step = given.json;
    Map<String, Object> objects = given.objects;
    switch (steps.text("do")) {
      case "record" -> steps.record();
      case "run" -> steps.keep(steps.graph().run(steps.tensors("inputs"), null));
      case "run_later" -> steps.keep(
          later(steps.graph().runAsync(steps.tensors("inputs"), null)));
      case "open_later" -> steps.open();
      case "discover_later" -> assertTrue(
          later(Backend.discoverAsync()).devices().stream()
              .anyMatch(each -> each.id().equals(steps.text("expect"))));
      case "switch" -> steps.switchBackend();
      case "custom_op" -> objects.put(steps.text("as"), steps.customOp());
      case "compute" -> steps.keep(
          ((CustomOp) objects.get(steps.text("op"))).compute(
              steps.tensors("inputs"), step.get("scale").getAsDouble()));
      default -> {
        return false;
      }
    }
    return true;
  }

  private void switchBackend() {
    Backend backend = Backend.open(text("from"));
    backend.switchTo(text("spec"));
    assertEquals(text("expect"), backend.device().id());
  }

  private CustomOp customOp() {
    return CustomOp.of(
        new CustomOpOptions()
            .name(text("name"))
            .signature(text("signature"))
            .attributes(text("attributes"))
            .items(text("items")),
        Path.of(System.getenv("RUNCIBLE_CUSTOM_OP")), text("name"));
  }

  private static <T> T later(CompletableFuture<T> future) throws Exception {
    try {
      return future.get();
    } catch (ExecutionException failure) {
      throw failure.getCause() instanceof RuntimeException thrown
          ? thrown : failure;
    }
  }

  private String text(String name) {
    return step.get(name).getAsString();
  }

  private Graph graph() {
    return (Graph) objects.get(text("graph"));
  }

  private List<Tensor> tensors(String name) {
    List<Tensor> made = new ArrayList<>();
    for (JsonElement each : step.getAsJsonArray(name)) {
      made.add((Tensor) objects.get(each.getAsString()));
    }
    return made;
  }

  private void keep(List<Tensor> outputs) {
    JsonArray names = step.getAsJsonArray("as");
    assertEquals(names.size(), outputs.size());
    for (int i = 0; i < names.size(); ++i) {
      objects.put(names.get(i).getAsString(), outputs.get(i));
    }
  }

  private static Tensor applied(JsonArray op, List<Tensor> values) {
    Tensor x = values.get(op.get(1).getAsInt());
    return switch (op.get(0).getAsString()) {
      case "add" -> x.add(values.get(op.get(2).getAsInt()));
      case "mul" -> x.mul(values.get(op.get(2).getAsInt()));
      case "relu" -> x.relu();
      default -> fail("there is no op " + op);
    };
  }

  private void record() {
    Graph made = Graph.record(
        Backend.open(text("backend")), tensors("like"), inputs -> {
          List<Tensor> values = new ArrayList<>(inputs);
          for (JsonElement op : step.getAsJsonArray("ops")) {
            values.add(applied(op.getAsJsonArray(), values));
          }
          List<Tensor> outputs = new ArrayList<>();
          for (JsonElement i : step.getAsJsonArray("outputs")) {
            outputs.add(values.get(i.getAsInt()));
          }
          return outputs;
        });
    objects.put(text("as"), made);
  }

  private void open() throws Exception {
    List<Double> told = new ArrayList<>();
    Backend backend = later(
        Backend.openAsync(text("spec"), new BackendOptions(), told::add));
    assertEquals(1.0, told.get(told.size() - 1));
    assertEquals(text("expect"), backend.device().id());
  }
}
