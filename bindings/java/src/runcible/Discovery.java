package runcible;

import java.util.List;

/**
 * The devices and unavailable backends of this machine.
 *
 * @param devices in order of preference within a backend
 * @param automatic what "auto" would choose, "cpu:0"; "" if there is nothing to
 *     choose
 */
public record Discovery(List<DeviceReport> devices, String automatic) {}
