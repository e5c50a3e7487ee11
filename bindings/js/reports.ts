/** Reports of the library about devices, models and use. */

/** @c rc_device_kind */
export type DeviceKind =
  // :api: values rc_device_kind

/** @c rc_end_reason */
export type EndReason =
  // :api: values rc_end_reason

/** The devices and unavailable backends of this machine. */
export interface Discovery {
  readonly devices: readonly DeviceReport[];
  /** The choice of "auto", such as "cpu:0"; "" if there is no device. */
  readonly automatic: string;
}

// :api: report_types
