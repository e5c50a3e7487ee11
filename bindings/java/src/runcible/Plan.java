package runcible;

import java.util.List;

/**
 * {@rc rc_plan_report}
 *
 * @param weights bytes
 * @param cache bytes
 * @param scratch {@rc rc_plan_report.scratch}
 * @param total bytes
 * @param available {@rc rc_plan_report.available}
 * @param fits {@rc rc_plan_report.fits}
 * @param contextLength {@rc rc_plan_report.context_length}
 * @param cacheTokens that the KV cache would hold
 * @param largestContext {@rc rc_plan_report.largest_context}
 * @param transfers {@rc rc_plan_report.transfers}
 * @param devices what each device would hold
 */
public record Plan(
    long weights,
    long cache,
    long scratch,
    long total,
    long available,
    boolean fits,
    long contextLength,
    long cacheTokens,
    long largestContext,
    long transfers,
    List<DevicePlan> devices) {
  static Plan of(plan_report report, List<DevicePlan> devices) {
    return new Plan(
        report.getWeights(),
        report.getCache(),
        report.getScratch(),
        report.getTotal(),
        report.getAvailable(),
        report.getFits() != 0,
        report.getContext_length(),
        report.getCache_tokens(),
        report.getLargest_context(),
        report.getTransfers(),
        devices);
  }
}
