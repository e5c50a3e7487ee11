package runcible;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The future of an answer; if it ends otherwise the request is cancelled. */
final class PendingReply extends CompletableFuture<Reply>
    implements Mailbox.Receiver {
  private final StringBuilder text = new StringBuilder();
  private final StringBuilder reasoning = new StringBuilder();
  private final List<ToolCall> calls = new ArrayList<>();

  void start(chat chat, GenerateOptions options) {
    request started = Mailbox.start(AnswerStream.of(chat, options), this);
    whenComplete((reply, failure) -> {
      if (reply == null) {
        Native.request_cancel(started);
      }
      started.close();
    });
  }

  /** What depends on it is a plain future. */
  @Override
  public <U> CompletableFuture<U> newIncompleteFuture() {
    return new CompletableFuture<>();
  }

  @Override
  public void take(Event event) {
    if (!event.isEnd()) {
      add(event.part());
    } else if (event.error() != null) {
      fail(event.error());
    } else {
      Reply reply = new Reply(
          text.toString(), reasoning.toString(), List.copyOf(calls),
          event.report());
      defaultExecutor().execute(() -> complete(reply));
    }
  }

  private void add(Part part) {
    if (part instanceof ToolCall call) {
      calls.add(call);
    } else {
      (part instanceof Reasoning ? reasoning : text).append(part);
    }
  }

  @Override
  public void fail(Throwable cause) {
    defaultExecutor().execute(() -> completeExceptionally(cause));
  }
}
