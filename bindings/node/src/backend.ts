/** Backends and devices. */
import { Handle, need, optionsOf, shown, type Proxy } from "./handle";
import { native } from "./native";
import { progressOptions, withProgress, type ProgressOptions } from "./progress";
import type * as reports from "./reports";
import { devicesOf, readReport } from "./report_values";
import { Tenant } from "./tenant";

/** @c rc_backend_options */
export interface BackendOptions {
  // :api: options rc_backend_options
  /** @c rc_backend_options.tenant */
  tenant?: Tenant | undefined;
}

const tenantOption = {
  tenant: (tenant: Tenant, options: Proxy) =>
    options.set_tenant(need(tenant, Tenant, "tenant")),
};

/** @c rc_backend_switch_options */
export interface SwitchOptions {
  // :api: options rc_backend_switch_options
}

function specOf(spec: string | undefined): string | null {
  if (spec === undefined || typeof spec === "string") return spec ?? null;
  throw new TypeError(`a backend must be a string, not ${shown(spec)}`);
}

/** @c rc_backend */
export class Backend extends Handle {
  private constructor(proxy: Proxy) {
    super(proxy);
  }

  // :api: release rc_backend

  /** @c rc_backend_open */
  static async open(
    spec?: string,
    options?: BackendOptions & ProgressOptions,
  ): Promise<Backend> {
    const others = { ...progressOptions, ...tenantOption };
    const made = optionsOf("backend_options", options, others);
    return withProgress(
      options ?? {},
      async (state) =>
        new Backend(await native.backend_open_later(specOf(spec), made, state)),
    );
  }

  /** The same, blocking until drivers have responded. */
  static openSync(spec?: string, options?: BackendOptions): Backend {
    const made = optionsOf("backend_options", options, tenantOption);
    return new Backend(native.backend_open(specOf(spec), made));
  }

  /** @c rc_backend_switch */
  async switch(spec?: string, options?: SwitchOptions & ProgressOptions): Promise<void> {
    const made = optionsOf("backend_switch_options", options, progressOptions);
    await withProgress(options ?? {}, async (state) => {
      await native.backend_switch_later(this._handle, specOf(spec), made, state);
    });
  }

  // :api: methods rc_backend
}

/** Returns a backend itself, or opens the backend that a string names. */
export async function backendOf(
  backend: Backend | string | undefined,
): Promise<Backend> {
  return backend instanceof Backend ? backend : Backend.open(backend);
}

export function backendOfSync(backend: Backend | string | undefined): Backend {
  return backend instanceof Backend ? backend : Backend.openSync(backend);
}

/** @c rc_discover */
export async function discover(): Promise<reports.Discovery> {
  const found = await native.discover_later();
  const devices = devicesOf(found);
  const automatic: string = native.device_list_automatic(found);
  return Object.freeze({ devices, automatic });
}
