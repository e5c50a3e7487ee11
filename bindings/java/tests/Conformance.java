import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import runcible.Backend;
import runcible.Report;
import runcible.RuncibleException;
import runcible.Tensor;

/** Runs the steps of a case in bindings/conformance; see README.md there. */
class Conformance {
  static final Path CASES = Path.of(System.getenv("RUNCIBLE_CASES"));

  final Map<String, Object> objects = Collections.synchronizedMap(new HashMap<>());
  private final Path folder;
  private final JsonElement golden;
  private final Actions actions = new Actions(this);

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
      step(step.getAsJsonObject());
    }
  }

  private void step(JsonObject step) throws Exception {
    if (step.has("except") && step.getAsJsonArray("except").contains(new JsonPrimitive("Java"))) {
      return;
    }
    if (!step.has("raises")) {
      act(step);
      return;
    }
    if (List.of("TYPE", "VALUE").contains(text(step, "raises"))) {
      return; // which the compiler refuses
    }
    try {
      act(step);
    } catch (RuntimeException thrown) {
      if (!(thrown instanceof RuncibleException error)) {
        throw thrown;
      }
      String message = error.getMessage();
      assertEquals(classOf(text(step, "raises")), error.getClass(), message);
      assertFalse(message.isEmpty());
      assertTrue(message.contains(text(step, "says")), message);
      assertTrue(message.startsWith(Calls.camel(text(step, "names"))), message);
      assertFalse(message.matches("(?s).*(\\b(rc|RC)_|->).*"), message);
      if (step.has("retries")) {
        assertEquals(step.get("retries").getAsBoolean(), error.retryAfter().isPresent(), message);
      }
      if (step.has("reason")) {
        check(error.report().orElseThrow().reason(), text(step, "reason"), "reason");
      }
      return;
    }
    fail(step + " threw nothing");
  }

  private static String text(JsonObject step, String name) {
    return step.has(name) ? step.get(name).getAsString() : "";
  }

  /** Returns RuncibleException.ContextFull for "CONTEXT_FULL". */
  static Class<?> classOf(String status) throws Exception {
    StringBuilder name = new StringBuilder();
    for (String word : status.split("_")) {
      name.append(word.charAt(0)).append(
          word.substring(1).toLowerCase(Locale.ROOT));
    }
    return Class.forName("runcible.RuncibleException$" + name);
  }

  private void act(JsonObject step) throws Exception {
    Object found = call(step);
    JsonElement as = step.get("as");
    if (as != null && as.isJsonArray()) {
      List<?> made = list(found);
      assertEquals(as.getAsJsonArray().size(), made.size());
      for (int i = 0; i < made.size(); ++i) {
        objects.put(as.getAsJsonArray().get(i).getAsString(), made.get(i));
      }
    } else if (as != null) {
      objects.put(as.getAsString(), found);
    }
    if (step.has("expect")) {
      check(found, value(step.get("expect")), text(step, "do"));
    }
  }

  /** Makes the call of a step, on an object or a class. */
  private Object call(JsonObject step) throws Exception {
    String[] called = text(step, "do").split("\\.");
    List<Object> given = step.has("with") ? list(value(step.get("with"))) : new ArrayList<>();
    Map<String, Object> options = step.has("options") ? map(value(step.get("options"))) : null;
    Object target = objects.get(called[0]);
    if (target == null && Character.isUpperCase(called[0].charAt(0))) {
      target = Class.forName("runcible." + called[0]);
    }
    Actions.Action own = actions.find(text(step, "do"), called[called.length - 1]);
    if (own != null) {
      return own.run(target, given, options, step);
    }
    return called.length == 1 ? target : Calls.call(target, called[1], given, options);
  }

  void together(JsonObject step) throws Exception {
    ExecutorService threads = Executors.newCachedThreadPool();
    List<Callable<Void>> tasks = new ArrayList<>();
    for (JsonElement each : step.getAsJsonArray("steps")) {
      tasks.add(() -> {
        step(each.getAsJsonObject());
        return null;
      });
    }
    for (Future<Void> done : threads.invokeAll(tasks)) {
      done.get();
    }
    threads.shutdown();
  }

  // ---- Values

  /** Returns the value that a step gives: "$name" is an object. */
  private Object value(JsonElement given) throws Exception {
    if (given.isJsonNull()) {
      return null;
    }
    if (given.isJsonArray()) {
      List<Object> made = new ArrayList<>();
      for (JsonElement each : given.getAsJsonArray()) {
        made.add(value(each));
      }
      return made;
    }
    if (given.isJsonObject()) {
      Map<String, Object> made = new LinkedHashMap<>();
      for (var each : given.getAsJsonObject().entrySet()) {
        made.put(each.getKey(), value(each.getValue()));
      }
      return made;
    }
    JsonPrimitive simple = given.getAsJsonPrimitive();
    if (!simple.isString()) {
      return simple.isBoolean() ? (Object) simple.getAsBoolean() : simple.getAsNumber();
    }
    String text = simple.getAsString();
    if (!text.startsWith("$")) {
      return text;
    }
    String[] parts = text.substring(1).split("/", 2);
    return switch (parts[0]) {
      case "golden" -> golden(parts[1]);
      case "path" -> folder.resolve(parts[1]);
      case "backend" -> Backend.open(parts[1]);
      default -> parts.length == 1 ? objects.get(parts[0])
                                   : member(objects.get(parts[0]), parts[1]);
    };
  }

  private Object golden(String path) throws Exception {
    JsonElement found = golden;
    for (String key : path.split("/")) {
      found = found.isJsonArray()
          ? found.getAsJsonArray().get(Integer.parseInt(key))
          : found.getAsJsonObject().get(key);
    }
    return value(found);
  }

  @SuppressWarnings("unchecked")
  static Map<String, Object> map(Object value) {
    return (Map<String, Object>) value;
  }

  /** Converts a list, an array or JSON to a List. */
  @SuppressWarnings("unchecked")
  static List<Object> list(Object value) {
    if (value instanceof List<?> list) {
      return (List<Object>) list;
    }
    List<Object> made = new ArrayList<>();
    for (int i = 0; i < java.lang.reflect.Array.getLength(value); ++i) {
      made.add(java.lang.reflect.Array.get(value, i));
    }
    return made;
  }

  // ---- Expected values

  /** Checks that the found value contains the expected one. */
  private void check(Object found, Object expected, String what) throws Exception {
    if (expected instanceof List<?> all) {
      assertEquals(all.size(), list(found).size(), what);
      for (int i = 0; i < all.size(); ++i) {
        check(list(found).get(i), all.get(i), what + "[" + i + "]");
      }
    } else if (expected instanceof Map) {
      for (var each : map(expected).entrySet()) {
        if (each.getKey().equals("$by")) {
          continue;
        }
        if (each.getKey().startsWith("$")) {
          compare(each.getKey(), found, each.getValue(), map(expected).get("$by"), what);
        } else {
          check(member(found, each.getKey()), each.getValue(), what + "." + each.getKey());
        }
      }
    } else if (expected instanceof Number number) {
      assertEquals(number.doubleValue(), number(found), what);
    } else if (found instanceof Enum<?> one) {
      assertEquals(((String) expected).replace(' ', '_'), one.name().toLowerCase(Locale.ROOT), what);
    } else {
      assertEquals(expected, found, what);
    }
  }

  private static double number(Object found) {
    return ((Number) found).doubleValue();
  }

  private Object member(Object found, String name) throws Exception {
    if (found instanceof String json) {
      return member(value(JsonParser.parseString(json)), name);
    }
    if (found instanceof Map) {
      return map(found).get(name);
    }
    if (found instanceof Tensor tensor && name.equals("numbers")) {
      return list(tensor.toFloats());
    }
    Object member = found.getClass().getMethod(Calls.camel(name)).invoke(found);
    if (member instanceof CompletableFuture<?> future) {
      return future.join();
    }
    return member instanceof Optional<?> one ? one.orElse(null) : member;
  }

  private boolean passes(Object found, Object wanted) throws Exception {
    try {
      check(found, wanted, "");
      return true;
    } catch (AssertionError failed) {
      return false;
    }
  }

  private boolean passesSome(List<?> found, List<?> wanted) throws Exception {
    for (Object each : found) {
      for (Object one : wanted) {
        if (passes(each, one)) {
          return true;
        }
      }
    }
    return false;
  }

  private void compare(String name, Object found, Object wanted, Object by, String what)
      throws Exception {
    String said = what + ": " + name + " " + wanted + ", but was " + found;
    switch (name) {
      case "$same" -> assertEquals(
          new Gson().toJsonTree(wanted), JsonParser.parseString((String) found), what);
      case "$not" -> assertFalse(Objects.equals(found, wanted), said);
      case "$near" -> {
        List<?> all = wanted instanceof List<?> list ? list : List.of(wanted);
        List<?> numbers = wanted instanceof List ? list(found) : List.of(found);
        for (int i = 0; i < all.size(); ++i) {
          assertEquals(number(all.get(i)), number(numbers.get(i)), number(by), said);
        }
      }
      case "$least" -> assertTrue(number(found) >= number(wanted), said);
      case "$most" -> assertTrue(number(found) <= number(wanted), said);
      case "$count" -> check(list(found).size(), wanted, what + " count");
      case "$some" -> assertTrue(passesSome(list(found), Arrays.asList(wanted)), said);
      case "$any" -> assertTrue(passesSome(Arrays.asList(found), list(wanted)), said);
      case "$all" -> {
        for (Object each : list(found)) {
          check(each, wanted, what);
        }
      }
      case "$start_of" -> assertTrue(
          !"".equals(found) && ((String) wanted).startsWith((String) found), said);
      case "$but_last" -> {
        List<Object> numbers = list(found);
        check(numbers, list(wanted).subList(0, numbers.size()), what);
        assertTrue(numbers.size() >= list(wanted).size() - 1, said);
      }
      default -> fail("there is no comparison " + name);
    }
  }

  static void statuses(Map<String, Object> numbers) throws Exception {
    var of = Class.forName("runcible.Errors").getDeclaredMethod(
        "of", int.class, String.class, Report.class);
    of.setAccessible(true);
    for (String name : numbers.keySet()) {
      int number = ((Number) numbers.get(name)).intValue();
      var error = (RuncibleException) of.invoke(null, number, "a message", null);
      assertEquals(classOf(name), error.getClass());
      assertEquals(number, error.status());
      assertEquals("a message", error.getMessage());
    }
  }

  /** Returns the result of a future, or throws its failure. */
  static <T> T later(CompletableFuture<T> future) throws Exception {
    try {
      return future.get();
    } catch (ExecutionException failure) {
      throw failure.getCause() instanceof RuntimeException thrown ? thrown : failure;
    }
  }

  static void assertRows(float[][] expected, float[][] found) {
    assertArrayEquals(expected, found);
  }
}
