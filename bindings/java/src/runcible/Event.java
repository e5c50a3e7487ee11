package runcible;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * An event of a request: a part, or the end. Made by the wrapper.
 *
 * @param key the key of the request within the mailbox
 * @param part the part; null for an end
 * @param report the report of an end
 * @param error the error of an end without success
 */
record Event(long key, Part part, Report report, RuntimeException error) {
  static Event part(
      long key, int type, byte[] text, int[] tokens, float[] logprobs,
      int[] topTokens, float[] topLogprobs, byte[] name, byte[] id) {
    if (type == Native.EVENT_CALL) {
      ToolCall call = new ToolCall(
          Text.decode(id), Text.decode(name), Text.decode(text));
      return new Event(key, call, null, null);
    }
    List<Logprob> own = List.of();
    List<List<Logprob>> top = new ArrayList<>();
    if (logprobs != null) {
      own = Logprob.list(tokens, logprobs, 0, tokens.length);
      int count = tokens.length == 0 ? 0 : topTokens.length / tokens.length;
      for (int i = 0; i < tokens.length; ++i) {
        top.add(Logprob.list(
            topTokens, topLogprobs, i * count, (i + 1) * count));
      }
    }
    List<Integer> boxed = Arrays.stream(tokens).boxed().toList();
    Part part = type == Native.EVENT_REASONING
        ? new Reasoning(Text.decode(text), boxed)
        : new Piece(Text.decode(text), boxed, own, List.copyOf(top));
    return new Event(key, part, null, null);
  }

  static Event end(long key, int status, byte[] message, long[] numbers) {
    Report report = Report.of(numbers);
    RuntimeException error = null;
    if (status != Native.OK) {
      String text = message.length > 0
          ? Text.decode(message)
          : "the generation ended: " + report.reason();
      error = Errors.of(status, text, report);
    }
    return new Event(key, null, report, error);
  }

  boolean isEnd() {
    return part == null;
  }
}
