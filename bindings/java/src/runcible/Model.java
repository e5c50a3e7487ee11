package runcible;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;

/**
 * {@rc rc_model}
 *
 * <p>Paths are those of the file system, or "builtin:NAME" for a model that
 * comes with Runcible.
 */
public final class Model extends Handle {
  final model handle;

  private Model(model handle) {
    super(handle);
    this.handle = handle;
  }

  /** Loads on the backend that {@link Backend#open()} opens. */
  public static Model load(String path) {
    try (Backend backend = Backend.open()) {
      return load(path, backend);
    }
  }

  /** {@rc rc_model_load} */
  public static Model load(String path, Backend backend) {
    return load(path, backend, new ModelOptions());
  }

  /** {@rc rc_model_load} */
  public static Model load(String path, Backend backend, ModelOptions options) {
    byte[] name = Text.name(path);
    try (model_options made = options.make()) {
      made.set_progress(options.progress());
      try {
        return new Model(
            new model((Long) Native.model_load(backend.handle, name, made)));
      } finally {
        made.set_progress(null);
      }
    }
  }

  /** The same with the default options. */
  public static Model fromHub(String source, Backend backend) {
    return fromHub(source, backend, new ModelOptions());
  }

  /**
   * Fetches the missing files of a model on a hub, and loads it. The source is
   * "OWNER/NAME", "OWNER/NAME:FILE" or "OWNER/NAME:Q4_K_M", with or without
   * "hf:" before it.
   *
   * @see #load(String, Backend, ModelOptions)
   */
  public static Model fromHub(
      String source, Backend backend, ModelOptions options) {
    String named = source.startsWith("hf:") ? source : "hf:" + source;
    byte[] none = Text.name("");
    byte[] path = (byte[]) Native.model_fetch(
        Text.name(named), none, none, none);
    return load(Text.decode(path), backend, options);
  }

  /**
   * Loads in a separate thread. Cancelling the future cancels the load.
   *
   * @see #load(String, Backend, ModelOptions)
   */
  public static CompletableFuture<Model> loadAsync(
      String path, Backend backend, ModelOptions options) {
    CompletableFuture<Model> future = new CompletableFuture<>();
    ModelOptions watched = options.copy();
    watched.progress(fraction -> {
      if (future.isDone()) {
        throw new CancellationException("the load was cancelled");
      }
      if (options.progress() != null) {
        options.progress().accept(fraction);
      }
    });
    Thread thread = new Thread(() -> {
      try {
        Model loaded = load(path, backend, watched);
        if (!future.complete(loaded)) {
          loaded.close();
        }
      } catch (Throwable failure) {
        future.completeExceptionally(failure);
      }
    }, "runcible load");
    thread.setDaemon(true);
    thread.start();
    return future;
  }

  /** {@rc rc_model_plan} */
  public static Plan plan(String path, Backend backend, ModelOptions options) {
    byte[] name = Text.name(path);
    try (model_options made = options.make()) {
      plan planned =
          new plan((Long) Native.model_plan(name, made, backend.handle));
      try (plan_report report = new plan_report()) {
        Native.plan_describe(planned, report);
        List<DevicePlan> devices = new ArrayList<>();
        for (long i = 0; i < report.getDevice_count(); ++i) {
          try (plan_device_report device = new plan_device_report()) {
            Native.plan_device(planned, i, device);
            devices.add(DevicePlan.of(device));
          }
        }
        List<PlanOffer> offers = new ArrayList<>();
        for (long i = 0; i < report.getOffer_count(); ++i) {
          try (plan_offer_report offer = new plan_offer_report()) {
            Native.plan_offer(planned, i, offer);
            offers.add(PlanOffer.of(offer));
          }
        }
        return Plan.of(report, List.copyOf(devices), List.copyOf(offers));
      } finally {
        planned.close();
      }
    }
  }

  /** {@rc rc_model_verify} */
  public static void verify(String path) {
    Native.model_verify(Text.name(path));
  }

  // :api: methods rc_model

  /** Returns the model's tokenizer, a separate handle. */
  public Tokenizer tokenizer() {
    return new Tokenizer(
        new tokenizer((Long) Native.model_get_tokenizer(handle)));
  }

  /** Returns embeddings of texts with the settings of the model's file. */
  public float[][] embed(List<String> texts) {
    return embed(texts, new EmbedOptions());
  }

  /**
   * Returns embeddings of texts, one row for each. Models that generate text
   * support it if they were loaded with the output of hidden rows.
   */
  public float[][] embed(List<String> texts, EmbedOptions options) {
    return rows(begin(texts, options));
  }

  /** The same in a separate thread; cancelling the future cancels it. */
  public CompletableFuture<float[][]> embedAsync(
      List<String> texts, EmbedOptions options) {
    return rowsLater(begin(texts, options));
  }

  /** Scores documents with the settings of the model's file. */
  public float[] rerank(String query, List<String> documents) {
    return rerank(query, documents, new RerankOptions());
  }

  /**
   * Returns how well each document answers the query: probabilities, in the
   * order of the documents. Models that generate text must be loaded with the
   * output of scores.
   */
  public float[] rerank(
      String query, List<String> documents, RerankOptions options) {
    return scores(rows(begin(query, documents, options)));
  }

  /** The same in a separate thread; cancelling the future cancels it. */
  public CompletableFuture<float[]> rerankAsync(
      String query, List<String> documents, RerankOptions options) {
    CompletableFuture<float[][]> rows =
        rowsLater(begin(query, documents, options));
    CompletableFuture<float[]> scores = rows.thenApply(Model::scores);
    scores.whenComplete((made, failure) -> rows.cancel(false));
    return scores;
  }

  private embedding begin(List<String> texts, EmbedOptions options) {
    try (text_list list = listOf(texts)) {
      return new embedding((Long) Native.model_embed(
          handle, list, options.pooling, options.normalize, options.dimensions,
          options.truncate, options.prompt, options.promptName,
          options.priority, options.deadline));
    }
  }

  private embedding begin(
      String query, List<String> documents, RerankOptions options) {
    try (text_list list = listOf(documents)) {
      return new embedding((Long) Native.model_rerank(
          handle, Text.name(query), list, options.rawScores, options.truncate,
          options.prompt, options.priority, options.deadline));
    }
  }

  private static text_list listOf(List<String> texts) {
    text_list list = new text_list();
    try {
      for (String text : texts) {
        list.add(Text.name(text));
      }
      return list;
    } catch (RuntimeException failure) {
      list.close();
      throw failure;
    }
  }

  private static float[][] rows(embedding made) {
    try {
      Native.embedding_wait(made, -1);
      return (float[][]) Native.embedding_rows(made);
    } finally {
      made.close();
    }
  }

  private static CompletableFuture<float[][]> rowsLater(embedding made) {
    CompletableFuture<float[][]> future = new CompletableFuture<>();
    Object busy = new Object();
    boolean[] over = {false};
    future.whenComplete((rows, failure) -> {
      synchronized (busy) {
        if (future.isCancelled() && !over[0]) {
          Native.embedding_cancel(made);
        }
      }
    });
    Thread thread = new Thread(() -> {
      try {
        Native.embedding_wait(made, -1);
        future.complete((float[][]) Native.embedding_rows(made));
      } catch (Throwable failure) {
        future.completeExceptionally(failure);
      } finally {
        synchronized (busy) {
          over[0] = true;
          made.close();
        }
      }
    }, "runcible embed");
    thread.setDaemon(true);
    thread.start();
    return future;
  }

  private static float[] scores(float[][] rows) {
    float[] scores = new float[rows.length];
    for (int i = 0; i < rows.length; ++i) {
      scores[i] = rows[i][0];
    }
    return scores;
  }

  /** Converts text to tokens; see {@link Tokenizer#tokenize(String)}. */
  public int[] tokenize(String text) {
    try (Tokenizer tokenizer = tokenizer()) {
      return tokenizer.tokenize(text);
    }
  }

  /** Converts tokens to text; see {@link Tokenizer#detokenize(int...)}. */
  public String detokenize(int... tokens) {
    try (Tokenizer tokenizer = tokenizer()) {
      return tokenizer.detokenize(tokens);
    }
  }

  /** Returns the metadata of the model's file: values as JSON texts, by key. */
  public Map<String, String> metadata() {
    model_info info = new model_info((Long) Native.model_get_info(handle));
    try {
      Map<String, String> metadata = new LinkedHashMap<>();
      for (long i = 0; i < Native.model_info_metadata_count(info); ++i) {
        Object[] entry = (Object[]) Native.model_info_metadata(info, i);
        byte[] key = (byte[]) entry[0];
        metadata.put(
            Text.decode(key),
            Text.decode((byte[]) Native.model_info_value(info, key, 0)));
      }
      return metadata;
    } finally {
      info.close();
    }
  }

  /** Makes an empty session. */
  public Session session() {
    return session(new SessionOptions());
  }

  /** Makes an empty session. */
  public Session session(SessionOptions options) {
    try (session_options made = options.make()) {
      return new Session(
          new session((Long) Native.session_create(handle, made)));
    }
  }
}
