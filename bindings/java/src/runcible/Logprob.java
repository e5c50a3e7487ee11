package runcible;

import java.util.ArrayList;
import java.util.List;

/**
 * A token and how probable it was.
 *
 * @param token the token
 * @param logprob the natural logarithm of its probability
 */
public record Logprob(int token, float logprob) {
  static List<Logprob> list(int[] tokens, float[] numbers, int from, int to) {
    List<Logprob> made = new ArrayList<>();
    for (int i = from; i < to; ++i) {
      made.add(new Logprob(tokens[i], numbers[i]));
    }
    return List.copyOf(made);
  }
}
