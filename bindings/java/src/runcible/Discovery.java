package runcible;

import java.util.List;

/**
 * The devices and unavailable backends of this machine.
 *
 * @param devices in order of preference within a backend
 * @param automatic the device that "auto" would choose, such as "cpu:0"; "" if
 *     there is none
 */
public record Discovery(List<DeviceReport> devices, String automatic) {}
