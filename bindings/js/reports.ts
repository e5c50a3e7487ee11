/** What the library tells about devices, models and use. */

/** @c rc_device_kind */
export type DeviceKind =
  // :api: values rc_device_kind

/** @c rc_end_reason */
export type EndReason =
  // :api: values rc_end_reason

/** The devices and unavailable backends of this machine. */
export interface Discovery {
  readonly devices: readonly DeviceReport[];
  /** What "auto" would choose, "cpu:0"; "" if there is nothing to choose. */
  readonly automatic: string;
}

// :api: report_types
