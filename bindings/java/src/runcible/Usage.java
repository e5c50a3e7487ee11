package runcible;

/**
 * {@rc rc_backend_usage_report}
 *
 * @param requests {@rc rc_backend_usage_report.requests}
 * @param promptTokens {@rc rc_backend_usage_report.prompt_tokens}
 * @param cachedTokens {@rc rc_backend_usage_report.cached_tokens}
 * @param generatedTokens tokens
 * @param computeUs {@rc rc_backend_usage_report.compute_us}
 * @param memory {@rc rc_backend_usage_report.memory}
 * @param peakMemory {@rc rc_backend_usage_report.peak_memory}
 */
public record Usage(
    long requests,
    long promptTokens,
    long cachedTokens,
    long generatedTokens,
    long computeUs,
    long memory,
    long peakMemory) {
  static Usage of(backend_usage_report report) {
    return new Usage(
        report.getRequests(),
        report.getPrompt_tokens(),
        report.getCached_tokens(),
        report.getGenerated_tokens(),
        report.getCompute_us(),
        report.getMemory(),
        report.getPeak_memory());
  }
}
