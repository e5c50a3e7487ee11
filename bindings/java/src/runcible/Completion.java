package runcible;

import java.util.List;

/**
 * A text that was generated.
 *
 * @param text the whole of it
 * @param tokens those generated
 * @param report how it ended
 */
public record Completion(String text, List<Integer> tokens, Report report) {}
