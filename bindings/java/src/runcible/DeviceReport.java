package runcible;

/**
 * One device, or one backend that is not available.
 *
 * @param backend {@rc rc_device_report.backend}
 * @param description {@rc rc_device_report.description}
 * @param index {@rc rc_device_report.index}
 * @param kind what it is
 * @param id {@rc rc_device_report.id}
 * @param name {@rc rc_device_report.name}
 * @param reason {@rc rc_device_report.reason}
 * @param totalMemory {@rc rc_device_report.total_memory}
 * @param freeMemory {@rc rc_device_report.free_memory}
 * @param unifiedMemory {@rc rc_device_report.unified_memory}
 * @param cores {@rc rc_device_report.cores}
 * @param features {@rc rc_device_report.features}
 * @param driver {@rc rc_device_report.driver}
 * @param physicalId {@rc rc_device_report.physical_id}
 */
public record DeviceReport(
    String backend,
    String description,
    int index,
    DeviceKind kind,
    String id,
    String name,
    String reason,
    long totalMemory,
    long freeMemory,
    boolean unifiedMemory,
    int cores,
    String features,
    String driver,
    String physicalId) {
  static DeviceReport of(device_report report) {
    return new DeviceReport(
        Text.decode(report.getBackend()),
        Text.decode(report.getDescription()),
        report.getIndex(),
        DeviceKind.of(report.getKind()),
        Text.decode(report.getId()),
        Text.decode(report.getName()),
        Text.decode(report.getReason()),
        report.getTotal_memory(),
        report.getFree_memory(),
        report.getUnified_memory() != 0,
        report.getCores(),
        Text.decode(report.getFeatures()),
        Text.decode(report.getDriver()),
        Text.decode(report.getPhysical_id()));
  }
}
