package runcible;

import java.util.List;

/**
 * Text that became certain. All pieces one after the other are the whole text.
 *
 * @param text the text, possibly empty
 * @param tokens those generated since the last piece
 * @param logprobs with {@link GenerateOptions#logprobs}, of each token; else
 *     empty
 * @param topLogprobs the most probable tokens in the place of each, by falling
 *     probability
 */
public record Piece(
    String text,
    List<Integer> tokens,
    List<Logprob> logprobs,
    List<List<Logprob>> topLogprobs) implements Part {

  /** The text. */
  @Override
  public String toString() {
    return text;
  }
}
