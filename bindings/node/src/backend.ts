/** Backends and devices. */
import {
  Handle,
  copied,
  milliseconds,
  setOptions,
  shown,
  type Proxy,
} from "./handle";
import { native } from "./native";
import {
  deviceReport,
  type DeviceReport,
  type Discovery,
  type Usage,
} from "./reports";

/** @c rc_backend_options */
export interface BackendOptions {
  requiredMemory?: number | undefined;
  memoryLimit?: number | undefined;
  threads?: number | undefined;
  maxRequests?: number | undefined;
  timeout?: number | undefined;
  strict?: boolean | undefined;
  profile?: boolean | undefined;
}

function optionsOf(given: BackendOptions | undefined): Proxy {
  const options = new native.backend_options();
  return setOptions(options, given, {
    timeout(time) {
      options.timeout_ms = milliseconds(time, "timeout");
    },
  });
}

function specOf(spec: string | undefined): string | null {
  if (spec === undefined || typeof spec === "string") return spec ?? null;
  throw new TypeError(`a backend must be told by a string, not ${shown(spec)}`);
}

/** @c rc_backend */
export class Backend extends Handle {
  private constructor(proxy: Proxy) {
    super(proxy);
  }

  /** @internal */
  protected override _release(proxy: Proxy): void {
    native.close_rc_backend(proxy);
  }

  /** @c rc_backend_open */
  static async open(spec?: string, options?: BackendOptions): Promise<Backend> {
    return new Backend(
      await native.backend_open_later(specOf(spec), optionsOf(options)),
    );
  }

  /** The same, blocking until drivers have answered. */
  static openSync(spec?: string, options?: BackendOptions): Backend {
    return new Backend(native.backend_open(specOf(spec), optionsOf(options)));
  }

  /** @c rc_backend_explain */
  explain(): Record<string, unknown> {
    return JSON.parse(native.backend_explain(this._handle));
  }

  /** @c rc_backend_device */
  get device(): DeviceReport {
    const report = new native.device_report();
    native.backend_device(this._handle, report);
    return deviceReport(report);
  }

  /** @c rc_backend_usage_report */
  get usage(): Usage {
    const report = new native.backend_usage_report();
    native.backend_usage(this._handle, report);
    return copied<Usage>(report);
  }

  /** @c rc_backend_trace */
  trace(): Record<string, unknown> {
    return JSON.parse(native.backend_trace(this._handle));
  }
}

/** A backend itself, or one that is opened by what it is called. */
export async function backendOf(
  backend: Backend | string | undefined,
): Promise<Backend> {
  return backend instanceof Backend ? backend : Backend.open(backend);
}

export function backendOfSync(backend: Backend | string | undefined): Backend {
  return backend instanceof Backend ? backend : Backend.openSync(backend);
}

/** @c rc_discover */
export async function discover(): Promise<Discovery> {
  const found = await native.discover_later();
  const count: number = native.device_list_count(found);
  const devices = Array.from({ length: count }, (_, i) => {
    const report = new native.device_report();
    native.device_list_get(found, i, report);
    return deviceReport(report);
  });
  const automatic: string = native.device_list_automatic(found);
  return Object.freeze({ devices, automatic });
}
