package runcible;

import java.util.List;

/**
 * Text that the model thinks before it answers.
 *
 * @param text the text, possibly empty
 * @param tokens the tokens generated since the last part
 */
public record Reasoning(String text, List<Integer> tokens) implements Part {

  /** Returns the text. */
  @Override
  public String toString() {
    return text;
  }
}
