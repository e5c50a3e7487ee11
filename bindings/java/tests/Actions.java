import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import runcible.Backend;
import runcible.BackendOptions;
import runcible.BackendSwitchOptions;
import runcible.Chat;
import runcible.CustomOp;
import runcible.CustomOpOptions;
import runcible.Dtype;
import runcible.EmbedOptions;
import runcible.GenerateOptions;
import runcible.Generation;
import runcible.Graph;
import runcible.Handle;
import runcible.Model;
import runcible.Part;
import runcible.PieceStream;
import runcible.Pinned;
import runcible.RandomOptions;
import runcible.Reasoning;
import runcible.Reply;
import runcible.RerankOptions;
import runcible.Session;
import runcible.SessionOptions;
import runcible.Tenant;
import runcible.Tensor;
import runcible.Tokenizer;
import runcible.ToolCall;

/** Steps that are not one method call, or have another name in Java. */
final class Actions {
  /** Runs a step on an object or a class. */
  interface Action {
    Object run(Object target, List<Object> given, Map<String, Object> options, JsonObject step)
        throws Exception;
  }

  private final Map<String, Action> all = new HashMap<>();

  Actions(Conformance runner) {
    all.put("together", (on, given, options, step) -> {
      runner.together(step);
      return null;
    });
    all.put("statuses", (on, given, options, step) -> {
      Conformance.statuses(Conformance.map(given.get(0)));
      return null;
    });
    all.put("file", (on, given, options, step) ->
        Files.writeString((Path) given.get(0), (String) given.get(1)));
    all.put("drop", (on, given, options, step) -> runner.objects.remove(given.get(0)));
    all.put("close_all", (on, given, options, step) -> {
      given.forEach(name -> ((Handle) runner.objects.get(name)).close());
      return null;
    });
    texts();
    tensors(runner);
  }

  /** Returns the action of a step, by its whole name or the name of its method, or null. */
  Action find(String name, String method) {
    return all.getOrDefault(name, all.get(method));
  }

  private static GenerateOptions generating(List<Object> given, Map<String, Object> options)
      throws Exception {
    GenerateOptions made = Calls.options(GenerateOptions.class, options);
    Object prompt = given.isEmpty() ? null : given.get(0);
    if (prompt instanceof List<?> tokens) {
      Calls.call(made, "prompt_tokens", new ArrayList<>(List.of(tokens)), null);
    }
    return prompt instanceof String text ? made.prompt(text) : made;
  }

  private static Map<String, Object> described(String text, Object report) {
    return new HashMap<>(Map.of("text", text, "report", report));
  }

  private void texts() {
    all.put("generate", (on, given, options, step) -> {
      Generation generation = ((Session) on).generate(generating(given, options));
      return described(generation.text(), generation.report().orElseThrow());
    });
    all.put("stream", (on, given, options, step) -> {
      PieceStream stream = ((Session) on).stream(generating(given, options));
      JsonElement last = step.get("cancel_after");
      int[] count = {0};
      Collector collector = new Collector(Long.MAX_VALUE, piece -> {
        if (last != null && ++count[0] == last.getAsInt()) {
          stream.cancel();
        }
      });
      stream.subscribe(collector);
      Map<String, Object> made = described(collector.join(), stream.report().join());
      made.put("pieces", collector.pieces);
      return made;
    });
    all.put("start", (on, given, options, step) ->
        ((Session) on).generate(generating(given, options)));
    all.put("leave", (on, given, options, step) -> {
      Generation left = ((Session) on).generate(generating(given, options));
      left.next();
      return left;
    });
    all.put("finish", (on, given, options, step) -> {
      ((Generation) on).close();
      return on;
    });
    all.put("answer", (on, given, options, step) ->
        reply(((Chat) on), Calls.options(GenerateOptions.class, options)));
    all.put("decode", (on, given, options, step) -> {
      if (options != null && options.get("all_logits") == Boolean.TRUE) {
        ((Session) on).decodeAll();
      } else {
        ((Session) on).decode();
      }
      return null;
    });
    all.put("logits", (on, given, options, step) -> {
      float[][] logits = ((Session) on).logits();
      float[] row = logits[((Number) given.get(0)).intValue()];
      double sum = 0;
      int largest = 0;
      for (int i = 0; i < row.length; ++i) {
        sum += row[i];
        largest = row[i] > row[largest] ? i : largest;
      }
      return Map.of(
          "rows", logits.length, "vocabulary", row.length, "largest", largest, "sum", sum);
    });
    all.put("tokenize", (on, given, options, step) -> {
      Tokenizer tokenizer = on instanceof Model model ? model.tokenizer() : (Tokenizer) on;
      String text = (String) given.get(0);
      return options == null ? tokenizer.tokenize(text) : tokenizer.tokenize(text, false, false);
    });
    all.put("embed", (on, given, options, step) -> {
      float[][] rows = (float[][]) Calls.call(on, "embed", given, options);
      Conformance.assertRows(rows, (float[][]) Conformance.later(
          (CompletableFuture<?>) Calls.call(on, "embedAsync", with(given, new EmbedOptions()), null)));
      return rows;
    });
    all.put("rerank", (on, given, options, step) -> {
      float[] scores = (float[]) Calls.call(on, "rerank", given, options);
      Conformance.assertRows(new float[][] {scores}, new float[][] {(float[]) Conformance.later(
          (CompletableFuture<?>) Calls.call(on, "rerankAsync", with(given, new RerankOptions()), null))});
      return scores;
    });
    all.put("save_bytes", (on, given, options, step) -> ((Session) on).save());
    all.put("restore_bytes", (on, given, options, step) -> Session.restore(
        (Model) given.get(0), (byte[]) given.get(1), new SessionOptions()));
    all.put("metadata", (on, given, options, step) -> {
      Map<String, Object> made = new HashMap<>();
      for (var each : ((Model) on).metadata().entrySet()) {
        made.put(each.getKey(), new Gson().fromJson(each.getValue(), Object.class));
      }
      return made;
    });
    all.put("switch", (on, given, options, step) -> {
      ((Backend) on).switchTo((String) given.get(0));
      return null;
    });
    all.put("open_later", (on, given, options, step) -> {
      List<Double> fractions = new ArrayList<>();
      Backend backend = Conformance.later(
          Backend.openAsync((String) given.get(0), new BackendOptions(), fractions::add));
      assertEquals(1.0, fractions.get(fractions.size() - 1));
      return backend;
    });
    all.put("discover", (on, given, options, step) -> Backend.discover());
    all.put("discover_later", (on, given, options, step) ->
        Conformance.later(Backend.discoverAsync()));
    all.put("plan", (on, given, options, step) -> Calls.call(Model.class, "plan", given, options));
    all.put("metrics", (on, given, options, step) ->
        on instanceof Tenant tenant ? tenant.metrics() : Tenant.allMetrics());
    all.put("open_metrics", (on, given, options, step) ->
        on instanceof Tenant tenant ? tenant.openMetrics() : Tenant.allOpenMetrics());
    all.put("verify", (on, given, options, step) ->
        Calls.call(Model.class, "verify", given, options));
  }

  private static List<Object> with(List<Object> given, Object last) {
    List<Object> made = new ArrayList<>(given);
    made.add(last);
    return made;
  }

  /** Returns the answer that a subscriber receives part by part. */
  private static Reply reply(Chat chat, GenerateOptions options) throws Exception {
    var stream = chat.answer(options);
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
    return new Reply(text.toString(), reasoning.toString(), calls, stream.report().join());
  }

  private void tensors(Conformance runner) {
    all.put("Tensor.of", (on, given, options, step) -> {
      Object numbers = options != null && "i32".equals(options.get("dtype"))
          ? given.get(0) : floats(given.get(0));
      return Calls.call(on, "of", List.of(given.get(2), numbers, given.get(1)), null);
    });
    all.put("Tensor.ones", (on, given, options, step) -> Calls.call(on, "ones", List.of(
        given.get(1), Dtype.F32, given.get(0)), null));
    all.put("sum", (on, given, options, step) ->
        given.isEmpty() ? ((Tensor) on).sum() : Calls.call(on, "sum", given, options));
    all.put("Tensor.random", (on, given, options, step) -> Tensor.random(
        (Backend) given.get(1), Calls.options(RandomOptions.class, options), 40, 30));
    for (String name : List.of("conv2d", "fused_linear", "rope")) {
      all.put(name, (on, given, options, step) -> {
        given.add(1, null); // the optional tensor
        return Calls.call(on, name, given, options);
      });
    }
    all.put("record", (on, given, options, step) -> Graph.record(
        (Backend) given.get(0), tensors(given.get(1)), inputs -> {
          List<Tensor> values = new ArrayList<>(inputs);
          values.addAll(given.size() > 4 ? tensors(given.get(4)) : List.of());
          for (Object op : Conformance.list(given.get(2))) {
            values.add(applied(Conformance.list(op), values));
            runner.objects.put("recorded", values.get(values.size() - 1));
          }
          return Conformance.list(given.get(3)).stream()
              .map(i -> values.get(((Number) i).intValue())).toList();
        }));
    all.put("run_later", (on, given, options, step) -> Conformance.later(
        options == null ? ((Graph) on).runAsync(tensors(given.get(0)).toArray(new Tensor[0]))
            : ((Graph) on).runAsync(tensors(given.get(0)), Duration.ofSeconds(
                ((Number) options.get("deadline")).intValue()))));
    all.put("switch_later", (on, given, options, step) ->
        Conformance.later(((Backend) on).switchToAsync((String) given.get(0),
            Calls.options(BackendSwitchOptions.class, options), null)));
    all.put("CustomOp.of", (on, given, options, step) -> CustomOp.of(
        Calls.options(CustomOpOptions.class, options),
        Path.of(System.getenv("RUNCIBLE_CUSTOM_OP")), (String) options.get("name")));
    all.put("compute", (on, given, options, step) -> ((CustomOp) on).compute(
        tensors(given.get(0)), ((Number) options.get("scale")).doubleValue()));
    all.put("Pinned.of", (on, given, options, step) -> {
      float[] values = floats(given.get(0));
      ByteBuffer memory = given.size() > 2
          ? Pinned.allocate(
              (Backend) given.get(1), values.length * Float.BYTES, (String) given.get(2))
          : Pinned.allocate((Backend) given.get(1), values.length * Float.BYTES);
      FloatBuffer numbers = memory.asFloatBuffer();
      while (numbers.hasRemaining()) {
        assertEquals(0, numbers.get());
      }
      numbers.rewind().put(values);
      return memory;
    });
    all.put("from_pinned", (on, given, options, step) -> Calls.call(on, "of", List.of(
        given.get(2), Dtype.F32, given.get(0), given.get(1)), null));
    all.put("borrow_pinned", (on, given, options, step) -> Calls.call(on, "borrow", List.of(
        given.get(2), Dtype.F32, given.get(0), given.get(1)), null));
    all.put("write_pinned", (on, given, options, step) ->
        ((ByteBuffer) on).asFloatBuffer().put(floats(given.get(0))));
    all.put("read_into", (on, given, options, step) -> {
      ByteBuffer memory = ((ByteBuffer) given.get(0)).duplicate();
      ((Tensor) on).read(memory);
      float[] found = new float[memory.position() / Float.BYTES];
      ((ByteBuffer) given.get(0)).asFloatBuffer().get(found);
      return found;
    });
  }

  private static Tensor applied(List<Object> op, List<Tensor> values) {
    List<Object> others = new ArrayList<>();
    for (Object i : op.subList(1, op.size())) {
      others.add(values.get(((Number) i).intValue()));
    }
    try {
      return (Tensor) Calls.call(
          others.get(0), (String) op.get(0), others.subList(1, others.size()), null);
    } catch (RuntimeException failed) {
      throw failed;
    } catch (Exception failed) {
      throw new AssertionError(failed);
    }
  }

  private static List<Tensor> tensors(Object given) {
    return Conformance.list(given).stream().map(Tensor.class::cast).toList();
  }

  private static float[] floats(Object given) {
    List<Object> numbers = Conformance.list(given);
    float[] made = new float[numbers.size()];
    for (int i = 0; i < made.length; ++i) {
      made[i] = ((Number) numbers.get(i)).floatValue();
    }
    return made;
  }
}
