using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using Runcible.Native;

namespace Runcible {
  /// <summary>{@rc session.h}</summary>
  public sealed class Session : Handle {
    private readonly session handle;
    private readonly List<WeakReference<Generation>> generations =
        new List<WeakReference<Generation>>();

    internal Session(session handle) : base(handle) {
      this.handle = handle;
    }

    /// <summary>{@rc rc_session_restore}</summary>
    public static Session Restore(
        Model model, string path, SessionOptions options = null) {
      byte[] name = Memory.Name(path);
      using (session_options made = (options ?? new SessionOptions()).Make()) {
        native.session_restore(model.handle, name, made, out var restored);
        return new Session(new session(restored));
      }
    }

    /// <summary>Restores from memory; see Save().</summary>
    public static Session Restore(
        Model model, byte[] saved, SessionOptions options = null) {
      using (session_options made = (options ?? new SessionOptions()).Make()) {
        native.session_restore_memory(
            model.handle, saved, (ulong)saved.Length, made, out var restored);
        return new Session(new session(restored));
      }
    }

    /// <summary>Starts a generation; its enumerator returns the pieces. With a
    /// null prompt, generation goes on from the session as it is, or with
    /// PromptTokens of the options. Cancelling throws
    /// OperationCanceledException.</summary>
    public Generation Generate(
        string prompt = null, GenerateOptions options = null,
        CancellationToken cancel = default(CancellationToken)) {
      var given = options ?? new GenerateOptions();
      using (generate_options made = given.Make(prompt)) {
        native.request_start(Idle(), made, out var started);
        var generation = new Generation(new request(started), cancel);
        lock (generations) {
          generations.RemoveAll(
              each => !each.TryGetTarget(out var it) || it.Report != null);
          generations.Add(new WeakReference<Generation>(generation));
        }
        return generation;
      }
    }

    /// <summary>Returns a generation that starts when it is enumerated, by
    /// await foreach or ForEachAsync; no thread waits for it.</summary>
    public PieceStream Stream(
        string prompt = null, GenerateOptions options = null) =>
        new PieceStream(Idle(), prompt, options ?? new GenerateOptions());

    /// <summary>Generates the whole text. Cancelling ends the generation, and
    /// the task when the generation has ended.</summary>
    public async Task<Completion> GenerateAsync(
        string prompt = null, GenerateOptions options = null,
        CancellationToken cancel = default(CancellationToken)) {
      var completion = new Completion();
      PieceStream stream = Stream(prompt, options);
      await stream.ForEachAsync(completion.Add, cancel).ConfigureAwait(false);
      completion.Report = stream.Report;
      return completion;
    }

    /// <summary>Begins a conversation without messages over the session. Throws
    /// ArgumentException if an option is wrong, NotFoundException if there is
    /// no such template or the file has none, UnsupportedException if the model
    /// has no tokenizer, FormatException if the template has a
    /// mistake.</summary>
    public Chat Chat(ChatOptions options = null) {
      using (chat_options made = (options ?? new ChatOptions()).Make()) {
        native.chat_create(Idle(), made, out var created);
        return new Chat(new chat(created), () => Idle());
      }
    }

    /// <summary>{@rc rc_session_append}</summary>
    public void Append(params int[] tokens) {
      native.session_append(Idle(), tokens, (ulong)tokens.Length);
    }

    /// <summary>{@rc rc_session_append_text}</summary>
    public void Append(
        string text, bool addSpecial = true, bool parseSpecial = false) {
      byte[] bytes = Memory.Encode(text);
      native.session_append_text(
          Idle(), bytes, (ulong)bytes.Length,
          GenerateOptions.TokenizeFlags(addSpecial, parseSpecial));
    }

    /// <summary>{@rc rc_session_decode}</summary>
    public void Decode(bool allLogits = false) {
      native.session_decode(
          Idle(), allLogits ? (uint)native.DECODE_ALL_LOGITS : 0);
    }

    /// <summary>The same on a thread of the pool. It cannot be cancelled: the
    /// session is busy until it has ended.</summary>
    public Task DecodeAsync(bool allLogits = false) {
      Idle();
      return Task.Run(() => Decode(allLogits));
    }

    /// <summary>Returns a copy of the logits of the last decode, [rows,
    /// vocabulary]: one row, or one for each evaluated token. Throws
    /// NotFoundException if there was no decode since the last
    /// change.</summary>
    public float[,] Logits() {
      // The memory belongs to the session, which stays open until it is copied.
      bool used = Reference.Use(handle);
      try {
        native.session_logits(
            Idle(), out var logits, out ulong rows, out ulong vocabulary);
        return Memory.Rows(logits, rows, vocabulary);
      } finally {
        Reference.Leave(handle, used);
      }
    }

    // :api: methods rc_session

    /// Returns the handle for calls that must not run during a generation. A
    /// thread that reads a generation and then uses its session otherwise has
    /// left the generation; without foreach, leaving is not reported.
    private session Idle() {
      var left = new List<Generation>();
      lock (generations) {
        foreach (WeakReference<Generation> each in generations) {
          if (each.TryGetTarget(out Generation generation)
              && generation.IsLeft) {
            left.Add(generation);
          }
        }
      }
      left.ForEach(generation => generation.Leave());
      return handle;
    }
  }
}
