/** Tenants, which share devices by weight, have limits, and get a bill. */
import { Handle, optionsOf } from "./handle";
import { jsonText } from "./json";
import { native } from "./native";
import type * as reports from "./reports";
import { readReport } from "./report_values";

/** @c rc_tenant_options */
export interface TenantOptions {
  // :api: options rc_tenant_options
}

/** @c rc_tenant */
export class Tenant extends Handle {
  /** @c rc_tenant_create */
  constructor(options?: TenantOptions) {
    super(native.tenant_create(optionsOf("tenant_options", options)));
  }

  // :api: release rc_tenant

  /** @c rc_tenant_change */
  change(options: TenantOptions): void {
    native.tenant_change(this._handle, optionsOf("tenant_options", options));
  }

  /** @c RC_METRICS_JSON */
  metrics(): Record<string, unknown> {
    return JSON.parse(native.tenant_metrics(this._handle, native.METRICS_JSON));
  }

  /** @c RC_METRICS_OPENMETRICS */
  openMetrics(): string {
    return native.tenant_metrics(this._handle, native.METRICS_OPENMETRICS);
  }

  /** @c rc_tenant_bill */
  bill(prices: object | string, since?: object | string): Record<string, unknown> {
    const before = since === undefined ? null : jsonText(since, "since");
    const list = jsonText(prices, "prices");
    return JSON.parse(native.tenant_bill(this._handle, list, before));
  }

  // :api: methods rc_tenant
}

/**
 * A snapshot of all tenants of the process that still exist; see Tenant.metrics.
 * Tenants with the same name are added up.
 */
export function metrics(): Record<string, unknown> {
  return JSON.parse(native.all_tenant_metrics(native.METRICS_JSON));
}

/** The same numbers in the text format of OpenMetrics. */
export function openMetrics(): string {
  return native.all_tenant_metrics(native.METRICS_OPENMETRICS);
}
