package runcible;

/**
 * {@rc rc_plan_device_report}
 *
 * @param device its id, "vulkan:0"
 * @param weights bytes
 * @param cache bytes
 * @param scratch bytes of activations
 * @param total bytes
 * @param available {@rc rc_plan_device_report.available}
 * @param firstLayer {@rc rc_plan_device_report.first_layer}
 * @param layers {@rc rc_plan_device_report.layers}
 * @param embedding {@rc rc_plan_device_report.embedding}
 * @param output {@rc rc_plan_device_report.output}
 */
public record DevicePlan(
    String device,
    long weights,
    long cache,
    long scratch,
    long total,
    long available,
    int firstLayer,
    int layers,
    boolean embedding,
    boolean output) {
  static DevicePlan of(plan_device_report report) {
    return new DevicePlan(
        Text.decode(report.getDevice()),
        report.getWeights(),
        report.getCache(),
        report.getScratch(),
        report.getTotal(),
        report.getAvailable(),
        report.getFirst_layer(),
        report.getLayers(),
        report.getEmbedding() != 0,
        report.getOutput() != 0);
  }
}
