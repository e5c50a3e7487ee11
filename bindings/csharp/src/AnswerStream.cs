using System.Collections.Generic;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using Runcible.Native;

namespace Runcible {
  /// <summary>The parts of an answer as they come, for await foreach; no thread
  /// waits for them.</summary>
  /// <remarks>The enumerator starts the answer, and does not wait for its
  /// prompt. The answer ends, and is left, like a PieceStream. When it has
  /// ended, all that was generated is a message of the conversation.</remarks>
  public sealed class AnswerStream : PartStream<Part> {
    private readonly chat chat;
    private readonly GenerateOptions options;

    internal AnswerStream(chat chat, GenerateOptions options) {
      this.chat = chat;
      this.options = options;
    }

    internal override void Start(PartChannel<Part> channel) {
      using (generate_options given = options.Make(null)) {
        channel.Start((box, key) => {
          native.mailbox_answer(box, chat, given, key, out var started);
          return started;
        });
      }
    }

    /// <summary>Reads the whole answer. Cancelling ends the answer, and the
    /// task when the answer has ended.</summary>
    public async Task<Reply> ReplyAsync(
        CancellationToken cancel = default(CancellationToken)) {
      var reply = new Reply();
      await ForEachAsync(reply.Add, cancel).ConfigureAwait(false);
      reply.Report = Report;
      return reply;
    }
  }

  /// <summary>A whole answer.</summary>
  public sealed class Reply {
    private readonly StringBuilder text = new StringBuilder();
    private readonly StringBuilder reasoning = new StringBuilder();
    private readonly List<ToolCall> calls = new List<ToolCall>();

    internal Reply() {
    }

    internal void Add(Part part) {
      if (part is ToolCall call) {
        calls.Add(call);
      } else {
        (part is Reasoning ? reasoning : text).Append(part);
      }
    }

    /// <summary>The text of the answer.</summary>
    public string Text => text.ToString();

    /// <summary>The text that the model thought before it.</summary>
    public string Reasoning => reasoning.ToString();

    /// <summary>The calls of tools.</summary>
    public IReadOnlyList<ToolCall> ToolCalls => calls;

    /// <summary>How it ended: its Reason is ToolCalls if there are
    /// calls.</summary>
    public Report Report { get; internal set; }
  }
}
