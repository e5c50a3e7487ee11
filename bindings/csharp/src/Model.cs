using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using Runcible.Native;

namespace Runcible {
  /// <summary>{@rc rc_model}</summary>
  /// <remarks>Paths are those of the file system, or "builtin:NAME" for a model
  /// that comes with Runcible.</remarks>
  public sealed class Model : Handle {
    internal readonly model handle;

    private Model(model handle) : base(handle) {
      this.handle = handle;
    }

    /// <summary>Loads on the backend that the environment variable
    /// RUNCIBLE_BACKEND, else "auto", chooses.</summary>
    public Model(string path) : this(Load(path)) {
    }

    /// <summary>{@rc rc_model_load}</summary>
    public Model(string path, Backend backend, ModelOptions options = null)
        : this(Load(path, backend, options ?? new ModelOptions(), null)) {
    }

    /// <summary>Fetches the missing files of a model on a hub, and loads it.
    /// The source is "OWNER/NAME", "OWNER/NAME:FILE" or "OWNER/NAME:Q4_K_M",
    /// with or without "hf:" before it.</summary>
    public static Model FromHub(
        string source, Backend backend, ModelOptions options = null) {
      string named = source.StartsWith("hf:", StringComparison.Ordinal)
          ? source : "hf:" + source;
      byte[] none = Memory.Name("");
      native.model_fetch(
          Memory.Name(named), none, none, none, out IntPtr path);
      return new Model(Memory.TakeText(path), backend, options);
    }

    private static model Load(string path) {
      using (var backend = new Backend()) {
        return Load(path, backend, new ModelOptions(), null);
      }
    }

    private static model Load(
        string path, Backend backend, ModelOptions options,
        Action<double> also) {
      byte[] name = Memory.Name(path);
      var progress = new Progress(options.Progress + also);
      using (model_options made = options.Make()) {
        if (also != null || options.Progress != null) {
          made.set_progress(progress.Receiver);
        }
        try {
          native.model_load(backend.handle, name, made, out var loaded);
          return new model(loaded);
        } catch (CancelledException) {
          progress.Rethrow();
          throw;
        } finally {
          GC.KeepAlive(progress);
        }
      }
    }

    /// <summary>Loads in a separate thread. Cancelling ends the
    /// load.</summary>
    public static Task<Model> LoadAsync(
        string path, Backend backend, ModelOptions options = null,
        CancellationToken cancel = default(CancellationToken)) =>
        Task.Factory.StartNew(
            () => new Model(Load(
                path, backend, options ?? new ModelOptions(),
                fraction => cancel.ThrowIfCancellationRequested())),
            cancel, TaskCreationOptions.LongRunning, TaskScheduler.Default);

    /// <summary>{@rc rc_model_plan}</summary>
    public static Plan Plan(
        string path, Backend backend, ModelOptions options = null) {
      byte[] name = Memory.Name(path);
      using (model_options made = (options ?? new ModelOptions()).Make()) {
        native.model_plan(name, made, backend.handle, out var planned);
        using (var plan = new plan(planned))
        using (var report = new plan_report()) {
          native.plan_describe(plan, report);
          var devices = new List<DevicePlan>();
          for (int i = 0; i < report.device_count; ++i) {
            using (var device = new plan_device_report()) {
              native.plan_device(plan, (ulong)i, device);
              devices.Add(new DevicePlan(device));
            }
          }
          var offers = new List<PlanOffer>();
          for (int i = 0; i < report.offer_count; ++i) {
            using (var offer = new plan_offer_report()) {
              native.plan_offer(plan, (ulong)i, offer);
              offers.Add(new PlanOffer(offer));
            }
          }
          return new Plan(report, devices, offers);
        }
      }
    }

    /// <summary>{@rc rc_model_verify}</summary>
    public static void Verify(string path) {
      native.model_verify(Memory.Name(path));
    }

    /// <summary>Returns embeddings of texts, one row for each.</summary>
    /// <remarks>Models that generate text support it if they were loaded with
    /// the output of hidden rows.</remarks>
    /// <param name="texts">at least one</param>
    /// <param name="options">null: the values in the model's file</param>
    /// <param name="cancel">ends the request</param>
    public float[][] Embed(
        IEnumerable<string> texts, EmbedOptions options = null,
        CancellationToken cancel = default(CancellationToken)) {
      EmbedOptions given = options ?? new EmbedOptions();
      long deadline = given.DeadlineMilliseconds;
      return Rows(texts, cancel, list => {
        native.model_embed(
            handle, list, (int)given.Pooling,
            given.Normalize == null ? -1 : given.Normalize.Value ? 1 : 0,
            given.Dimensions, given.Truncate ? 1 : 0, Prompt(given.Prompt),
            Prompt(given.PromptName), given.Priority, deadline, out var made);
        return made;
      });
    }

    /// <summary>The same on a thread of the pool.</summary>
    public Task<float[][]> EmbedAsync(
        IEnumerable<string> texts, EmbedOptions options = null,
        CancellationToken cancel = default(CancellationToken)) =>
        Task.Run(() => Embed(texts, options, cancel), cancel);

    /// <summary>Returns how well each document answers the query:
    /// probabilities, in the order of the documents.</summary>
    /// <remarks>Models that generate text must be loaded with the output of
    /// scores.</remarks>
    /// <param name="query">the question</param>
    /// <param name="documents">at least one</param>
    /// <param name="options">null: the defaults of the library</param>
    /// <param name="cancel">ends the request</param>
    public float[] Rerank(
        string query, IEnumerable<string> documents,
        RerankOptions options = null,
        CancellationToken cancel = default(CancellationToken)) {
      RerankOptions given = options ?? new RerankOptions();
      long deadline = given.DeadlineMilliseconds;
      byte[] asked = Memory.Name(query);
      float[][] rows = Rows(documents, cancel, list => {
        native.model_rerank(
            handle, asked, list, given.RawScores ? 1 : 0,
            given.Truncate ? 1 : 0, Prompt(given.Prompt), given.Priority,
            deadline, out var made);
        return made;
      });
      return Array.ConvertAll(rows, row => row[0]);
    }

    /// <summary>The same on a thread of the pool.</summary>
    public Task<float[]> RerankAsync(
        string query, IEnumerable<string> documents,
        RerankOptions options = null,
        CancellationToken cancel = default(CancellationToken)) =>
        Task.Run(() => Rerank(query, documents, options, cancel), cancel);

    private static byte[] Prompt(string text) =>
        text == null ? null : Memory.Name(text);

    private static float[][] Rows(
        IEnumerable<string> texts, CancellationToken cancel,
        Func<text_list, IntPtr> begin) {
      cancel.ThrowIfCancellationRequested();
      using (var list = new text_list()) {
        foreach (string text in texts) {
          list.add(Memory.Name(text));
        }
        using (var embedding = new embedding(begin(list)))
        using (cancel.Register(() => native.embedding_cancel(embedding))) {
          try {
            native.embedding_wait(embedding, -1);
          } catch (CancelledException) {
            cancel.ThrowIfCancellationRequested();
            throw;
          }
          native.embedding_rows(
              embedding, out var numbers, out ulong rows, out ulong columns);
          float[] all = Memory.Floats(numbers, rows * columns);
          float[][] made = new float[rows][];
          for (int i = 0; i < made.Length; ++i) {
            made[i] = new float[columns];
            Array.Copy(all, i * (long)columns, made[i], 0, (long)columns);
          }
          return made;
        }
      }
    }

    // :api: methods rc_model

    /// <summary>Returns the model's tokenizer, a separate handle.</summary>
    public Tokenizer Tokenizer() {
      native.model_get_tokenizer(handle, out var tokenizer);
      return new Tokenizer(new tokenizer(tokenizer));
    }

    /// <summary>{@rc rc_tokenize}</summary>
    public int[] Tokenize(
        string text, bool addSpecial = true, bool parseSpecial = false) {
      using (Tokenizer tokenizer = Tokenizer()) {
        return tokenizer.Tokenize(text, addSpecial, parseSpecial);
      }
    }

    /// <summary>{@rc rc_detokenize}</summary>
    public string Detokenize(int[] tokens, bool special = false) {
      using (Tokenizer tokenizer = Tokenizer()) {
        return tokenizer.Detokenize(tokens, special);
      }
    }

    /// <summary>Returns the metadata of the model's file: values as JSON texts,
    /// by key.</summary>
    public IReadOnlyDictionary<string, string> Metadata() {
      native.model_get_info(handle, out var opened);
      using (var info = new model_info(opened)) {
        var metadata = new Dictionary<string, string>();
        for (ulong i = 0; i < native.model_info_metadata_count(info); ++i) {
          native.model_info_metadata(info, i, out var name, out _);
          string key = Memory.Text(name);
          native.model_info_value(info, Memory.Name(key), 0, out var value);
          metadata[key] = Memory.TakeText(value);
        }
        return metadata;
      }
    }

    /// <summary>Makes an empty session.</summary>
    public Session Session(SessionOptions options = null) {
      using (session_options made = (options ?? new SessionOptions()).Make()) {
        native.session_create(handle, made, out var created);
        return new Session(new session(created));
      }
    }
  }
}
