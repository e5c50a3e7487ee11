import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import runcible.Report;
import runcible.RuncibleException;

/** Runs the steps of a case of bindings/conformance/cases.json. */
class Conformance {
  static final Path CASES = Path.of(System.getenv("RUNCIBLE_CASES"));

  private final Path folder;
  private final JsonElement golden;
  private final Map<String, Object> objects = new HashMap<>();

  Conformance(Path folder) throws IOException {
    this.folder = folder;
    String path = document().get("golden").getAsString();
    this.golden = parsed(CASES.resolveSibling(path));
  }

  static JsonObject document() throws IOException {
    return parsed(CASES).getAsJsonObject();
  }

  private static JsonElement parsed(Path path) throws IOException {
    return JsonParser.parseString(Files.readString(path));
  }

  void run(JsonObject one) throws Exception {
    for (JsonElement step : one.getAsJsonArray("steps")) {
      run(step(step.getAsJsonObject()));
    }
  }

  private void run(Step step) throws Exception {
    if (!step.has("raises")) {
      act(step);
      return;
    }
    try {
      act(step);
    } catch (RuntimeException thrown) {
      if (!(thrown instanceof RuncibleException error)) {
        throw thrown;
      }
      assertEquals(classOf(step.text("raises")), error.getClass());
      assertFalse(error.getMessage().isEmpty());
      String says = step.has("says") ? step.text("says") : "";
      assertTrue(error.getMessage().contains(says), error.getMessage());
      String names =
          step.has("names") ? OptionSetters.camel(step.text("names")) : "";
      assertTrue(error.getMessage().contains(names), error.getMessage());
      assertFalse(
          error.getMessage().matches("(?s).*(\\b(rc|RC)_|->).*"),
          error.getMessage());
      if (step.has("reason")) {
        assertEquals(step.reason(), error.report().orElseThrow().reason());
      }
      return;
    }
    fail(step.json + " threw nothing");
  }

  /** With the values that stand for others in place. */
  private Step step(JsonObject given) {
    JsonObject made = new JsonObject();
    given.entrySet().forEach(
        entry -> made.add(entry.getKey(), value(entry.getValue())));
    return new Step(made, objects);
  }

  private JsonElement value(JsonElement given) {
    if (!given.isJsonObject()) {
      return given;
    }
    JsonObject object = given.getAsJsonObject();
    if (object.has("file")) {
      return new JsonPrimitive(
          objects.get(object.get("file").getAsString()).toString());
    }
    if (!object.has("golden")) {
      return given;
    }
    JsonElement found = golden;
    for (String key : object.get("golden").getAsString().split("/")) {
      found = found.isJsonArray()
          ? found.getAsJsonArray().get(Integer.parseInt(key))
          : found.getAsJsonObject().get(key);
    }
    return found;
  }

  /** "CONTEXT_FULL" is RuncibleException.ContextFull. */
  private static Class<?> classOf(String status) throws Exception {
    StringBuilder name = new StringBuilder();
    for (String word : status.split("_")) {
      name.append(word.charAt(0)).append(
          word.substring(1).toLowerCase(Locale.ROOT));
    }
    return Class.forName("runcible.RuncibleException$" + name);
  }

  private void act(Step step) throws Exception {
    switch (step.text("do")) {
      case "together" -> together(step);
      case "statuses" -> statuses(step);
      case "file" -> step.put(Files.writeString(
          folder.resolve(step.text("as")), step.text("text")));
      case "save" -> save(step);
      default -> assertTrue(
          TextSteps.act(step) || ChatSteps.act(step)
              || TensorSteps.act(step) || GraphSteps.act(step),
          () -> "there is no step " + step.json);
    }
  }

  private void save(Step step) {
    Path path = folder.resolve("session.gguf");
    step.session().save(path);
    step.put(path);
  }

  private void together(Step step) throws Exception {
    JsonArray steps = step.json.getAsJsonArray("steps");
    ExecutorService threads = Executors.newFixedThreadPool(steps.size());
    List<Callable<Void>> tasks = new ArrayList<>();
    for (JsonElement each : steps) {
      tasks.add(() -> {
        run(step(each.getAsJsonObject()));
        return null;
      });
    }
    for (Future<Void> done : threads.invokeAll(tasks)) {
      done.get();
    }
    threads.shutdown();
  }

  private static void statuses(Step step) throws Exception {
    var of = Class.forName("runcible.Errors").getDeclaredMethod(
        "of", int.class, String.class, Report.class);
    of.setAccessible(true);
    for (String name : step.object("expect").keySet()) {
      int number = step.object("expect").get(name).getAsInt();
      var error = (RuncibleException) of.invoke(
          null, number, "a message", null);
      assertEquals(classOf(name), error.getClass());
      assertEquals(number, error.status());
      assertEquals("a message", error.getMessage());
    }
  }
}
