/** Reports of the library as objects. */
import { camel } from "./handle";
import { flags, kinds } from "./members";
import { native } from "./native";
import type { DevicePlan, DeviceReport, Plan, PlanOffer } from "./reports";

type Proxy = any;

/** Returns a report of C as an object: its members, and those of `given`. */
function copied<T>(report: Proxy, given: object = {}): T {
  const made: Record<string, unknown> = {};
  const members = Object.getOwnPropertyDescriptors(
    Object.getPrototypeOf(report),
  );
  for (const [member, { get }] of Object.entries(members)) {
    if (get === undefined) continue;
    const name = camel(member);
    const value: unknown = report[member];
    made[name] = flags.has(name) ? Boolean(value) : value;
  }
  return Object.freeze(Object.assign(made, given)) as T;
}

/** Returns the report that `fill` fills, by the name of its struct. */
export function readReport<T>(struct: string, fill: (report: Proxy) => void): T {
  const report = new native[struct]();
  fill(report);
  if (struct !== "device_report") return copied<T>(report);
  return copied<T>(report, { kind: kinds.get(report.kind) ?? "other" });
}

/** Returns the devices of a list. */
export function devicesOf(list: Proxy): DeviceReport[] {
  const count: number = native.device_list_count(list);
  return Array.from({ length: count }, (_, i) =>
    readReport<DeviceReport>("device_report", (report) =>
      native.device_list_get(list, i, report),
    ),
  );
}

/** Returns the report of a plan, and releases the library's handle of it. */
export function planOf(handle: Proxy): Plan {
  try {
    const report = new native.plan_report();
    native.plan_describe(handle, report);
    const devices = Array.from({ length: report.device_count }, (_, i) =>
      readReport<DevicePlan>("plan_device_report", (device) =>
        native.plan_device(handle, i, device),
      ),
    );
    const offers = Array.from({ length: report.offer_count }, (_, i) =>
      readReport<PlanOffer>("plan_offer_report", (offer) =>
        native.plan_offer(handle, i, offer),
      ),
    );
    return copied<Plan>(report, { devices, offers });
  } finally {
    native.close_rc_plan(handle);
  }
}
