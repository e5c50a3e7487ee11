package runcible;

import java.util.concurrent.Executor;

/**
 * The parts of an answer as they come, for one subscriber. The subscription
 * starts the answer and does not wait for its prompt. When the answer has
 * ended, all that was generated is a message of the conversation.
 */
public final class AnswerStream extends PartStream<Part> {
  AnswerStream(chat chat, GenerateOptions options, Uses uses) {
    super(Part.class, () -> {
      uses.endLeft();
      return of(chat, options);
    });
  }

  private AnswerStream(AnswerStream other, Executor executor) {
    super(other, executor);
  }

  /** The same stream, whose subscriber is called on another executor. */
  public AnswerStream on(Executor other) {
    return new AnswerStream(this, other);
  }

  /** Returns the start of an answer. */
  static Mailbox.Beginning of(chat chat, GenerateOptions options) {
    return (box, key) -> {
      try (generate_options made = options.make()) {
        return Native.mailbox_answer(box, chat, made, key);
      }
    };
  }
}
