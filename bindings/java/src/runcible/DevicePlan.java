package runcible;

/**
 * {@rc rc_device_plan}
 *
 * @param device {@rc rc_device_plan.device}
 * @param weights bytes
 * @param cache bytes
 * @param scratch bytes of activations
 * @param total bytes
 * @param available {@rc rc_device_plan.available}
 * @param firstLayer {@rc rc_device_plan.first_layer}
 * @param layers {@rc rc_device_plan.layers}
 * @param embedding {@rc rc_device_plan.embedding}
 * @param output {@rc rc_device_plan.output}
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
  static DevicePlan of(device_plan report) {
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
