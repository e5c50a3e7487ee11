using System;
using System.Threading;
using System.Threading.Tasks;
using Runcible.Native;

namespace Runcible {
  /// <summary>The options of a conversation: tools and template. Properties
  /// that are null have the default of the library.</summary>
  public sealed class ChatOptions {
    /// <summary>The functions that the model may call, in the shape of "tools"
    /// of OpenAI's chat completions: a list of objects, or a JSON array.
    /// Objects are dictionaries, anonymous or others with properties, or values
    /// of a JSON library.</summary>
    public object Tools { get; set; }

    /// <summary>The name of a chat template: a variant in the file, or a
    /// well-known template for files that have none ("chatml", "llama3",
    /// "zephyr", ...).</summary>
    public string TemplateName { get; set; }

    /// <summary>The source of a chat template, in place of a name.</summary>
    public string TemplateText { get; set; }

    /// <summary>More variables for the template: an object, or JSON.</summary>
    public object TemplateArguments { get; set; }

    /// <summary>For models that can do both: whether to think before they
    /// answer; null: the default of the template.</summary>
    public bool? Thinking { get; set; }

    /// <summary>The current time for templates that write the date:
    /// "2024-07-26" or "2024-07-26T14:05:09"; null: the system's clock and time
    /// zone.</summary>
    public string Now { get; set; }

    internal chat_options Make() {
      var made = new chat_options();
      try {
        Set(Written(Tools, nameof(Tools)), made.set_tools);
        Set(TemplateName, made.set_template_name);
        Set(TemplateText, made.set_template_text);
        Set(
            Written(TemplateArguments, nameof(TemplateArguments)),
            made.set_template_arguments);
        Set(Now, made.set_now);
        if (Thinking.HasValue) {
          made.thinking = Thinking.Value ? 1 : 0;
        }
        return made;
      } catch {
        made.Dispose();
        throw;
      }
    }

    private static string Written(object value, string name) =>
        value == null ? null : Json.Text(value, name);

    private static void Set(string text, Action<byte[]> set) {
      if (text != null) {
        set(Memory.Name(text));
      }
    }
  }

  /// <summary>A conversation: a list of messages over a session; see
  /// Session.Chat.</summary>
  /// <remarks>An answer of the model becomes one of the messages. For each
  /// answer only the part that the session does not hold yet is evaluated, also
  /// after messages were removed. To keep a conversation, keep its session
  /// (Session.Save) and its messages.</remarks>
  public sealed class Chat : Handle {
    private readonly chat handle;
    /// Ends a generation of the session that the calling thread has left.
    private readonly Action leave;

    internal Chat(chat handle, Action leave) : base(handle) {
      this.handle = handle;
      this.leave = leave;
    }

    /// <summary>Adds messages: an object, or a list of objects, in the shape of
    /// "messages" of OpenAI's chat completions, or either as JSON; see Message.
    /// Throws ArgumentException if a message is malformed, naming its place; no
    /// message is added then. Throws BusyException while an answer is under
    /// way.</summary>
    public void Add(object messages) {
      byte[] json = Memory.Encode(Json.Text(messages, nameof(messages)));
      native.chat_add(Idle(), json, (ulong)json.Length);
    }

    /// <summary>{@rc rc_chat_undo}</summary>
    public void Undo(int count = 1) {
      native.chat_undo(Idle(), Limits.NotNegative(count, nameof(count)));
    }

    /// <summary>Returns all messages, a JSON array. Throws BusyException while
    /// an answer is under way.</summary>
    public string Messages() {
      native.chat_messages(Idle(), out var json, out ulong length);
      return System.Text.Encoding.UTF8.GetString(Memory.TakeBytes(json, length));
    }

    /// <summary>{@rc rc_chat_fork}</summary>
    public Chat Fork() {
      native.chat_fork(Idle(), out var made);
      return new Chat(new chat(made), () => {});
    }

    /// <summary>Returns an answer that starts when it is enumerated. The
    /// options are those of Session.Stream.</summary>
    public AnswerStream Answer(GenerateOptions options = null) =>
        new AnswerStream(Idle(), options ?? new GenerateOptions());

    /// <summary>Adds a message of the user, unless it is null, and returns the
    /// whole answer.</summary>
    public Task<Reply> AskAsync(
        string text = null, GenerateOptions options = null,
        CancellationToken cancel = default(CancellationToken)) {
      if (text != null) {
        Add(Message.User(text));
      }
      return Answer(options).ReplyAsync(cancel);
    }

    /// <summary>The same, blocking.</summary>
    public Reply Ask(string text = null, GenerateOptions options = null) =>
        AskAsync(text, options).GetAwaiter().GetResult();

    private chat Idle() {
      leave();
      return handle;
    }
  }
}
