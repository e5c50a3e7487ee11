package runcible;

import java.util.List;

/**
 * Text that became certain. All pieces in order make the whole text.
 *
 * @param text the text, possibly empty
 * @param tokens the tokens generated since the last piece
 * @param logprobs the logarithm of the probability of each token, with
 *     {@link GenerateOptions#logprobs}; else empty
 * @param topLogprobs for each token the most probable tokens in its place, by
 *     falling probability
 */
public record Piece(
    String text,
    List<Integer> tokens,
    List<Logprob> logprobs,
    List<List<Logprob>> topLogprobs) implements Part {

  /** Returns the text. */
  @Override
  public String toString() {
    return text;
  }
}
