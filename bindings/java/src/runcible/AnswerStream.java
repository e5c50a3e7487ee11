package runcible;

import java.util.concurrent.Executor;

/**
 * The parts of an answer as they come, for one subscriber, whose subscription
 * starts the answer and does not wait for its prompt. Whatever came of it is a
 * message of the conversation when it has ended.
 */
public final class AnswerStream extends PartStream<Part> {
  private final chat chat;
  private final GenerateOptions options;
  private final Uses uses;

  AnswerStream(chat chat, GenerateOptions options, Uses uses) {
    super(Part.class);
    this.chat = chat;
    this.options = options;
    this.uses = uses;
  }

  private AnswerStream(AnswerStream other, Executor executor) {
    super(other, executor);
    this.chat = other.chat;
    this.options = other.options;
    this.uses = other.uses;
  }

  /** The same stream, whose subscriber is called on another executor. */
  public AnswerStream on(Executor other) {
    return new AnswerStream(this, other);
  }

  @Override
  Mailbox.Beginning beginning() {
    uses.endLeft();
    return of(chat, options);
  }

  /** What starts an answer. */
  static Mailbox.Beginning of(chat chat, GenerateOptions options) {
    return (box, key) -> {
      try (generate_options made = options.make()) {
        return Native.mailbox_answer(box, chat, made, key);
      }
    };
  }
}
