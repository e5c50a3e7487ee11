/** What the library tells about devices, models and use. */
import { native } from "./native";
import { copied, type Proxy } from "./handle";

export type DeviceKind =
  | "other"
  | "cpu"
  | "discrete GPU"
  | "integrated GPU"
  | "accelerator"
  | "software";

const kinds = new Map<number, DeviceKind>([
  [native.DEVICE_OTHER, "other"],
  [native.DEVICE_CPU, "cpu"],
  [native.DEVICE_GPU_DISCRETE, "discrete GPU"],
  [native.DEVICE_GPU_INTEGRATED, "integrated GPU"],
  [native.DEVICE_ACCELERATOR, "accelerator"],
  [native.DEVICE_SOFTWARE, "software"],
]);

/** @c rc_device_report */
export interface DeviceReport {
  readonly backend: string;
  readonly description: string;
  readonly index: number;
  readonly kind: DeviceKind;
  readonly id: string;
  readonly name: string;
  readonly reason: string;
  readonly totalMemory: number;
  readonly freeMemory: number;
  readonly unifiedMemory: boolean;
  readonly cores: number;
  readonly features: string;
  readonly driver: string;
  readonly physicalId: string;
}

/** The devices and unavailable backends of this machine. */
export interface Discovery {
  readonly devices: readonly DeviceReport[];
  /** What "auto" would choose, "cpu:0"; "" if there is nothing to choose. */
  readonly automatic: string;
}

/** @c rc_backend_usage_report */
export interface Usage {
  readonly requests: number;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly generatedTokens: number;
  readonly computeUs: number;
  readonly memory: number;
  readonly peakMemory: number;
}

/** @c rc_plan_device_report */
export interface DevicePlan {
  readonly device: string;
  readonly weights: number;
  readonly cache: number;
  readonly scratch: number;
  readonly total: number;
  readonly available: number;
  readonly firstLayer: number;
  readonly layers: number;
  readonly embedding: boolean;
  readonly output: boolean;
}

/** @c rc_plan_report */
export interface Plan {
  readonly weights: number;
  readonly cache: number;
  readonly scratch: number;
  readonly total: number;
  readonly available: number;
  readonly fits: boolean;
  readonly contextLength: number;
  readonly cacheTokens: number;
  readonly largestContext: number;
  readonly transfers: number;
  /** The first is the opened one, even if nothing fits there. */
  readonly devices: readonly DevicePlan[];
}

/** @c rc_model_report */
export interface ModelReport {
  readonly architecture: string;
  readonly name: string;
  readonly device: string;
  readonly contextLength: number;
  readonly trainedContextLength: number;
  readonly vocabulary: number;
  readonly width: number;
  readonly layers: number;
  readonly parameters: number;
  readonly weightBytes: number;
  readonly cacheBytes: number;
  readonly scratchBytes: number;
  readonly cacheTokens: number;
  readonly pageSize: number;
}

/** @c rc_tokenizer_report */
export interface TokenizerReport {
  readonly kind: string;
  readonly vocabulary: number;
  readonly bos: number;
  readonly eos: number;
  readonly unknown: number;
}

export function deviceReport(report: Proxy): DeviceReport {
  const kind = kinds.get(report.kind) ?? "other";
  return copied<DeviceReport>(report, { kind });
}

/** What the library's handle of a plan tells; gives the handle back. */
export function planOf(handle: Proxy): Plan {
  try {
    const report = new native.plan_report();
    native.plan_describe(handle, report);
    const devices = Array.from({ length: report.device_count }, (_, i) => {
      const device = new native.plan_device_report();
      native.plan_device(handle, i, device);
      return copied<DevicePlan>(device);
    });
    return copied<Plan>(report, { devices });
  } finally {
    native.close_rc_plan(handle);
  }
}
