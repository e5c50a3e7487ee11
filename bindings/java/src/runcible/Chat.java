package runcible;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * A conversation: a list of messages over a session; see {@link Session#chat}.
 *
 * <p>An answer of the model becomes one of the messages. For each answer only
 * the part that the session does not hold yet is evaluated, also after messages
 * were removed. To keep a conversation, keep its session ({@link Session#save})
 * and its messages.
 */
public final class Chat extends Handle {
  private final chat handle;
  private final Uses uses;

  Chat(Object made, Uses uses) {
    this(new chat((Long) made), uses);
  }

  private Chat(chat handle, Uses uses) {
    super(handle);
    this.handle = handle;
    this.uses = uses;
  }

  /**
   * Adds messages: an object, or a list of objects, in the shape of "messages"
   * of OpenAI's chat completions, or either as JSON; see {@link Message}.
   * Objects are Maps, records, or values of a JSON library. Throws {@link
   * RuncibleException.InvalidArgument} if a message is malformed, naming its
   * place; no message is added then. Throws {@link RuncibleException.Busy}
   * while an answer is under way.
   */
  public void add(Object messages) {
    byte[] json = Text.encode(Json.text(messages, "messages"));
    Native.chat_add(idle(), json);
  }

  /** {@rc rc_chat_undo} */
  public void undo(int count) {
    Native.chat_undo(idle(), count);
  }

  /**
   * Returns all messages, a JSON array. Throws {@link RuncibleException.Busy}
   * while an answer is under way.
   */
  public String messages() {
    return Text.decode((byte[]) Native.chat_messages(idle()));
  }

  /** {@rc rc_chat_fork} */
  public Chat fork() {
    return new Chat(Native.chat_fork(idle()), new Uses());
  }

  /** Lets the model answer. */
  public AnswerStream answer() {
    return answer(new GenerateOptions());
  }

  /** Lets the model answer; the options are those of {@link Session#stream}. */
  public AnswerStream answer(GenerateOptions options) {
    return new AnswerStream(handle, options.copy(), uses);
  }

  /** Returns the whole answer. Cancelling the future cancels it. */
  public CompletableFuture<Reply> replyAsync(GenerateOptions options) {
    PendingReply pending = new PendingReply();
    pending.start(AnswerStream.of(idle(), options));
    return pending;
  }

  /** Returns the whole answer; blocks. */
  public Reply reply(GenerateOptions options) {
    try {
      return replyAsync(options).join();
    } catch (CompletionException failed) {
      if (failed.getCause() instanceof RuntimeException error) {
        throw error;
      }
      throw failed;
    }
  }

  /** Adds a message of the user, and returns the whole answer; blocks. */
  public Reply ask(String text) {
    return ask(text, new GenerateOptions());
  }

  /** Adds a message of the user, and returns the whole answer; blocks. */
  public Reply ask(String text, GenerateOptions options) {
    add(Message.user(text));
    return reply(options);
  }

  private chat idle() {
    uses.endLeft();
    return handle;
  }
}
