package runcible;

import java.util.List;

/**
 * A generated text.
 *
 * @param text the whole text
 * @param tokens the generated tokens
 * @param report how the generation ended
 */
public record Completion(String text, List<Integer> tokens, Report report) {}
