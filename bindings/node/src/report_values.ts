/** Reports of the library as objects. */
import { camel } from "./handle";
import { flags, kinds } from "./members";
import { native } from "./native";
import type { DevicePlan, DeviceReport, Plan, PlanOffer } from "./reports";

type Proxy = any;

/** A report of C as an object: its members, and `given`. */
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

/** The report that `fill` fills, by the name of its struct. */
export function told<T>(struct: string, fill: (report: Proxy) => void): T {
  const report = new native[struct]();
  fill(report);
  if (struct !== "device_report") return copied<T>(report);
  return copied<T>(report, { kind: kinds.get(report.kind) ?? "other" });
}

/** What looking for devices found. */
export function devicesOf(list: Proxy): DeviceReport[] {
  const count: number = native.device_list_count(list);
  return Array.from({ length: count }, (_, i) =>
    told<DeviceReport>("device_report", (report) =>
      native.device_list_get(list, i, report),
    ),
  );
}

/** What the library's handle of a plan tells; gives the handle back. */
export function planOf(handle: Proxy): Plan {
  try {
    const report = new native.plan_report();
    native.plan_describe(handle, report);
    const devices = Array.from({ length: report.device_count }, (_, i) =>
      told<DevicePlan>("plan_device_report", (device) =>
        native.plan_device(handle, i, device),
      ),
    );
    const offers = Array.from({ length: report.offer_count }, (_, i) =>
      told<PlanOffer>("plan_offer_report", (offer) =>
        native.plan_offer(handle, i, offer),
      ),
    );
    return copied<Plan>(report, { devices, offers });
  } finally {
    native.close_rc_plan(handle);
  }
}
