import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import runcible.AnswerStream;
import runcible.Backend;
import runcible.BackendOptions;
import runcible.Chat;
import runcible.ChatOptions;
import runcible.Dtype;
import runcible.EmbedOptions;
import runcible.EndReason;
import runcible.GenerateOptions;
import runcible.Generation;
import runcible.Grammar;
import runcible.GrammarOptions;
import runcible.Model;
import runcible.Part;
import runcible.PieceStream;
import runcible.Reasoning;
import runcible.Reply;
import runcible.Report;
import runcible.RerankOptions;
import runcible.RuncibleException;
import runcible.Session;
import runcible.SessionOptions;
import runcible.Tensor;
import runcible.Tokenizer;
import runcible.ToolCall;
import runcible.WhenFull;

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
      run(new Step(step.getAsJsonObject()));
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
      String names = step.has("names") ? camel(step.text("names")) : "";
      assertTrue(error.getMessage().contains(names), error.getMessage());
      assertFalse(
          error.getMessage().matches("(?s).*(\\b(rc|RC)_|->).*"),
          error.getMessage());
      if (step.has("reason")) {
        assertEquals(reason(step), error.report().orElseThrow().reason());
      }
      return;
    }
    fail(step.json + " threw nothing");
  }

  /** A step, with the values that stand for others in place. */
  private final class Step {
    final JsonObject json = new JsonObject();

    Step(JsonObject given) {
      given.entrySet().forEach(
          entry -> json.add(entry.getKey(), value(entry.getValue())));
    }

    boolean has(String name) {
      return json.has(name);
    }

    String text(String name) {
      return json.get(name).getAsString();
    }

    double number(String name) {
      return json.get(name).getAsDouble();
    }

    int whole(String name) {
      return json.get(name).getAsInt();
    }

    int[] tokens(String name) {
      return new Gson().fromJson(json.get(name), int[].class);
    }

    JsonArray array(String name) {
      return json.getAsJsonArray(name);
    }

    JsonObject object(String name) {
      return has(name) ? json.getAsJsonObject(name) : new JsonObject();
    }

    /** The object of the kind that the step calls `name`. */
    <T> T named(String name, Class<T> kind) {
      return kind.cast(objects.get(text(name)));
    }

    Session session() {
      return named("session", Session.class);
    }

    Chat chat() {
      return named("chat", Chat.class);
    }

    Model model() {
      return named("model", Model.class);
    }

    void put(Object made) {
      objects.put(text("as"), made);
    }
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

  private static EndReason reason(Step step) {
    String name = step.text("reason").replace(' ', '_');
    return EndReason.valueOf(name.toUpperCase(Locale.ROOT));
  }

  private static String camel(String name) {
    StringBuilder made = new StringBuilder();
    for (String word : name.split("_")) {
      made.append(made.isEmpty() ? word.charAt(0) : Character.toUpperCase(
          word.charAt(0))).append(word.substring(1));
    }
    return made.toString();
  }

  /** Calls the setters of an options object that JSON names. */
  private <T> T with(T options, JsonObject values) throws Exception {
    for (String name : values.keySet()) {
      List<Object> candidates = new ArrayList<>();
      if (!values.get(name).isJsonPrimitive()) {
        set(options, camel(name), List.of(values.get(name).toString()));
        continue;
      }
      JsonPrimitive value = values.getAsJsonPrimitive(name);
      if (name.equals("when_full")) {
        candidates.add(
            WhenFull.valueOf(value.getAsString().toUpperCase(Locale.ROOT)));
      } else if (name.equals("deadline")) {
        candidates.add(Duration.ofNanos((long) (value.getAsDouble() * 1e9)));
      } else if (name.equals("grammar")) {
        candidates.add(objects.get(value.getAsString()));
      } else if (value.isString()) {
        candidates.add(value.getAsString());
      } else if (value.isBoolean()) {
        candidates.add(value.getAsBoolean());
      } else {
        candidates.addAll(List.of(
            value.getAsInt(), value.getAsLong(), value.getAsDouble()));
      }
      set(options, camel(name), candidates);
    }
    return options;
  }

  private static void set(Object options, String name, List<Object> candidates)
      throws Exception {
    for (var method : options.getClass().getMethods()) {
      for (Object candidate : candidates) {
        if (method.getName().equals(name) && method.getParameterCount() == 1
            && boxed(method.getParameterTypes()[0]) == candidate.getClass()) {
          method.invoke(options, candidate);
          return;
        }
      }
    }
    fail("no option " + name + " of " + candidates);
  }

  private static Class<?> boxed(Class<?> kind) {
    return java.lang.invoke.MethodType.methodType(kind).wrap().returnType();
  }

  private void act(Step step) throws Exception {
    switch (step.text("do")) {
      case "load" -> load(step);
      case "embed" -> embed(step);
      case "rerank" -> rerank(step);
      case "report" -> report(step);
      case "tokenize" -> assertArrayEquals(
          step.tokens("expect"),
          step.model().tokenizer().tokenize(step.text("text"), false, false));
      case "detokenize" -> assertEquals(
          step.text("expect"), step.model().detokenize(step.tokens("tokens")));
      case "session" -> step.put(step.model().session(
          with(new SessionOptions(), step.object("options"))));
      case "generate" -> generate(step);
      case "stream" -> stream(step);
      case "together" -> together(step);
      case "tokens" -> tokens(step);
      case "append" -> append(step);
      case "statuses" -> statuses(step);
      case "file" -> step.put(Files.writeString(
          folder.resolve(step.text("as")), step.text("text")));
      case "start" -> step.put(step.session().generate(options(step)));
      case "finish" -> finish(step);
      case "close" -> step.named("object", Session.class).close();
      case "save" -> save(step);
      case "restore" -> step.put(Session.restore(
          step.model(), step.named("saved", Path.class)));
      case "fork" -> step.put(step.session().fork());
      case "decode" -> step.session().decodeAll();
      case "logits" -> logits(step);
      case "tensor" -> tensor(step);
      case "matmul" -> step.put(
          step.named("a", Tensor.class).matmul(step.named("b", Tensor.class)));
      case "quantize" -> step.named("tensor", Tensor.class).quantize(
          Dtype.valueOf(step.text("dtype").toUpperCase(Locale.ROOT)));
      case "read" -> read(step);
      case "record", "run", "run_later", "open_later", "discover_later",
          "switch", "custom_op", "compute" ->
          GraphSteps.act(step.json, objects);
      case "grammar" -> step.put(grammar(step));
      case "chat" -> step.put(step.session().chat(
          with(new ChatOptions(), step.object("options"))));
      case "add" -> step.chat().add(step.json.get("messages").toString());
      case "undo" -> step.chat().undo(step.whole("count"));
      case "messages" -> assertEquals(
          step.json.get("expect"),
          JsonParser.parseString(step.chat().messages()));
      case "fork_chat" -> step.put(step.chat().fork());
      case "answer" -> answer(step);
      case "ask" -> checkReply(
          step, step.chat().ask(step.text("text"), options(step)));
      default -> fail("there is no step " + step.json);
    }
  }

  private Grammar grammar(Step step) throws Exception {
    Tokenizer tokenizer = step.model().tokenizer();
    return switch (step.text("kind")) {
      case "json_schema" -> Grammar.jsonSchema(
          tokenizer, step.json.get("schema").toString(),
          with(new GrammarOptions(), step.object("options")));
      case "regex" -> Grammar.regex(tokenizer, step.text("text"));
      case "gbnf" -> Grammar.gbnf(tokenizer, step.text("text"));
      case "lark" -> Grammar.lark(tokenizer, step.text("text"));
      default -> Grammar.choices(tokenizer, List.of(
          new Gson().fromJson(step.json.get("choices"), String[].class)));
    };
  }

  /** By a subscriber, who gets all parts. */
  private void answer(Step step) throws Exception {
    AnswerStream stream = step.chat().answer(options(step));
    StringBuilder text = new StringBuilder();
    StringBuilder reasoning = new StringBuilder();
    List<ToolCall> calls = new ArrayList<>();
    CompletableFuture<Void> ended = new CompletableFuture<>();
    stream.subscribe(new Flow.Subscriber<Part>() {
      @Override
      public void onSubscribe(Flow.Subscription subscription) {
        subscription.request(Long.MAX_VALUE);
      }

      @Override
      public void onNext(Part part) {
        if (part instanceof ToolCall call) {
          calls.add(call);
        } else {
          (part instanceof Reasoning ? reasoning : text).append(part);
        }
      }

      @Override
      public void onError(Throwable failure) {
        ended.completeExceptionally(failure);
      }

      @Override
      public void onComplete() {
        ended.complete(null);
      }
    });
    try {
      ended.get();
    } catch (ExecutionException failed) {
      throw (Exception) failed.getCause();
    }
    checkReply(step, new Reply(
        text.toString(), reasoning.toString(), calls, stream.report().join()));
  }

  private static void checkReply(Step step, Reply reply) {
    JsonObject expected = step.object("expect");
    assertEquals(expected.get("text").getAsString(), reply.text());
    assertEquals(expected.get("reasoning").getAsString(), reply.reasoning());
    JsonArray calls = new JsonArray();
    for (ToolCall each : reply.toolCalls()) {
      JsonObject call = new JsonObject();
      call.addProperty("id", each.id());
      call.addProperty("name", each.name());
      call.add("arguments", JsonParser.parseString(each.arguments()));
      calls.add(call);
    }
    assertEquals(expected.get("calls"), calls);
    assertEquals(reason(step), reply.report().reason());
  }

  private void load(Step step) throws Exception {
    Backend backend = Backend.open(
        step.text("backend"),
        with(new BackendOptions(), step.object("backend_options")));
    if (step.has("hub")) {
      step.put(Model.fromHub(step.text("hub"), backend));
      return;
    }
    String path = step.has("path") ? step.text("path") : "builtin:fable";
    step.put(Model.load(path, backend));
  }

  private static List<String> texts(JsonArray given) {
    List<String> made = new ArrayList<>();
    given.forEach(text -> made.add(text.getAsString()));
    return made;
  }

  private static void near(float[] row, JsonArray expected) {
    for (int i = 0; i < expected.size(); ++i) {
      assertEquals(expected.get(i).getAsDouble(), row[i], 2e-3);
    }
  }

  private void embed(Step step) throws Exception {
    List<String> texts = texts(step.array("texts"));
    JsonArray expected = step.array("expect");
    float[][] rows = step.model().embed(texts);
    assertEquals(expected.size(), rows.length);
    for (int i = 0; i < rows.length; ++i) {
      near(rows[i], expected.get(i).getAsJsonArray());
    }
    assertArrayEquals(
        rows, step.model().embedAsync(texts, new EmbedOptions()).get());
  }

  private void rerank(Step step) throws Exception {
    List<String> documents = texts(step.array("documents"));
    float[] scores = step.model().rerank(step.text("query"), documents);
    assertEquals(step.array("expect").size(), scores.length);
    near(scores, step.array("expect"));
    assertArrayEquals(
        scores, step.model().rerankAsync(step.text("query"), documents,
                    new RerankOptions()).get());
  }

  private void report(Step step) throws Exception {
    Object report = step.model().report();
    for (var expected : step.object("expect").entrySet()) {
      Object value = report.getClass().getMethod(camel(expected.getKey()))
          .invoke(report);
      assertEquals(expected.getValue().getAsString(), value.toString());
    }
  }

  private GenerateOptions options(Step step) throws Exception {
    GenerateOptions options =
        with(new GenerateOptions(), step.object("options"));
    if (!step.has("prompt")) {
      return options;
    }
    return step.json.get("prompt").isJsonArray()
        ? options.promptTokens(step.tokens("prompt"))
        : options.prompt(step.text("prompt"));
  }

  private void generate(Step step) throws Exception {
    Generation generation = step.session().generate(options(step));
    checkText(step, generation.text());
    assertEquals(reason(step), generation.report().orElseThrow().reason());
  }

  private void stream(Step step) throws Exception {
    PieceStream stream = step.session().stream(options(step));
    int last = step.has("cancel_after") ? step.whole("cancel_after") : -1;
    int[] count = {0};
    Collector collector = new Collector(Long.MAX_VALUE, piece -> {
      if (++count[0] == last) {
        stream.cancel();
      }
    });
    stream.subscribe(collector);
    String text = collector.join();
    checkText(step, text);
    assertTrue(
        collector.count() >= (step.has("pieces") ? step.whole("pieces") : 0));
    assertEquals(reason(step), stream.report().join().reason());
  }

  private static void checkText(Step step, String text) {
    assertFalse(text.isEmpty());
    if (step.has("expect")) {
      assertEquals(step.text("expect"), text);
    }
    if (step.has("expect_start_of")) {
      assertTrue(step.text("expect_start_of").startsWith(text), text);
    }
  }

  private void together(Step step) throws Exception {
    JsonArray steps = step.json.getAsJsonArray("steps");
    ExecutorService threads = Executors.newFixedThreadPool(steps.size());
    List<Callable<Void>> tasks = new ArrayList<>();
    for (JsonElement each : steps) {
      tasks.add(() -> {
        run(new Step(each.getAsJsonObject()));
        return null;
      });
    }
    for (Future<Void> done : threads.invokeAll(tasks)) {
      done.get();
    }
    threads.shutdown();
  }

  private void tokens(Step step) {
    // The end token ends a text and is no part of the session.
    int[] tokens = step.session().tokens();
    int[] expected = step.tokens("expect");
    assertArrayEquals(Arrays.copyOf(expected, tokens.length), tokens);
    assertTrue(tokens.length >= expected.length - 1);
  }

  private void append(Step step) {
    if (step.has("text")) {
      step.session().append(step.text("text"));
    } else {
      step.session().append(step.tokens("tokens"));
    }
  }

  private void statuses(Step step) throws Exception {
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

  private void finish(Step step) {
    Generation generation = step.named("generation", Generation.class);
    generation.close();
    assertEquals(
        EndReason.CANCELLED, generation.report().orElseThrow().reason());
  }

  private void save(Step step) {
    Path path = folder.resolve("session.gguf");
    step.session().save(path);
    step.put(path);
  }

  private void logits(Step step) {
    float[][] logits = step.session().logits();
    assertEquals(step.whole("rows"), logits.length);
    float[] row = logits[step.whole("row")];
    assertEquals(step.whole("vocabulary"), row.length);
    double sum = 0;
    int largest = 0;
    for (int i = 0; i < row.length; ++i) {
      sum += row[i];
      largest = row[i] > row[largest] ? i : largest;
    }
    assertEquals(step.whole("largest"), largest);
    double expected = step.number("sum");
    assertEquals(
        expected, sum, Math.abs(expected) * step.number("tolerance"));
  }

  private void tensor(Step step) {
    long[] shape = new Gson().fromJson(step.json.get("shape"), long[].class);
    float[] numbers;
    if (step.has("values")) {
      numbers = new Gson().fromJson(step.json.get("values"), float[].class);
    } else {
      long size = Arrays.stream(shape).reduce(1, (a, b) -> a * b);
      numbers = new float[(int) size];
      Arrays.fill(numbers, (float) step.number("fill"));
    }
    step.put(Tensor.of(Backend.open(step.text("backend")), numbers, shape));
  }

  private void read(Step step) {
    Tensor tensor = step.named("tensor", Tensor.class);
    assertNotNull(tensor);
    assertArrayEquals(
        new Gson().fromJson(step.json.get("expect_shape"), long[].class),
        tensor.shape());
    assertArrayEquals(
        new Gson().fromJson(step.json.get("expect"), float[].class),
        tensor.toFloats());
  }
}
