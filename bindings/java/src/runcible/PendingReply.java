package runcible;

import java.util.ArrayList;
import java.util.List;

/** The future of an answer. */
final class PendingReply extends Pending<Reply> {
  private final StringBuilder reasoning = new StringBuilder();
  private final List<ToolCall> calls = new ArrayList<>();

  @Override
  void add(Part part) {
    if (part instanceof ToolCall call) {
      calls.add(call);
    } else {
      (part instanceof Reasoning ? reasoning : text).append(part);
    }
  }

  @Override
  Reply made(Report report) {
    return new Reply(
        text.toString(), reasoning.toString(), List.copyOf(calls), report);
  }
}
