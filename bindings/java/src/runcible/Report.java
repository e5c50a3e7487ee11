package runcible;

import java.time.Duration;

/**
 * How a generation ended.
 *
 * @param reason why
 * @param seed that was used
 * @param promptTokens tokens of the prompt
 * @param cachedTokens of these, taken from the prefix cache
 * @param generatedTokens tokens that were generated
 * @param queueTime waiting for the first step
 * @param promptTime from then to the first token
 * @param generateTime from then to the end
 */
public record Report(
    EndReason reason,
    long seed,
    long promptTokens,
    long cachedTokens,
    long generatedTokens,
    Duration queueTime,
    Duration promptTime,
    Duration generateTime) {

  /** Of the numbers in the order of rc_generate_report. */
  static Report of(long[] numbers) {
    return new Report(
        EndReason.of(numbers[0]), numbers[1], numbers[2], numbers[3],
        numbers[4], microseconds(numbers[5]), microseconds(numbers[6]),
        microseconds(numbers[7]));
  }

  private static Duration microseconds(long count) {
    return Duration.ofNanos(count * 1000);
  }
}
