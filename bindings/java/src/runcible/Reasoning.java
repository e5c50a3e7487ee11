package runcible;

import java.util.List;

/**
 * Text of what the model thinks before it answers.
 *
 * @param text the text, possibly empty
 * @param tokens those generated since the last part
 */
public record Reasoning(String text, List<Integer> tokens) implements Part {

  /** The text. */
  @Override
  public String toString() {
    return text;
  }
}
