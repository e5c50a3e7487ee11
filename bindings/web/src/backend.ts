/** Backends and devices. */
import { theEngine, type Engine } from "./engine.js";
import { Handle, named, optionsOf, shown } from "./handle.js";
import { progressOptions, type ProgressOptions } from "./progress.js";
import type * as reports from "./reports.js";

/** @c rc_backend_options */
export interface BackendOptions {
  // :api: options rc_backend_options
}

/** @c rc_backend */
export class Backend extends Handle {
  // :api: release rc_backend

  /** @c rc_backend_open */
  static async open(
    spec?: string,
    options: BackendOptions & ProgressOptions = {},
  ): Promise<Backend> {
    if (spec !== undefined && typeof spec !== "string") {
      throw new TypeError(`a backend must be a string, not ${shown(spec)}`);
    }
    const made = optionsOf("backend_options", options, progressOptions);
    options.signal?.throwIfAborted();
    const engine: Engine = await theEngine();
    const id = engine.newHandle();
    await engine.call("open", [id, spec, made], options);
    return new Backend(engine, id);
  }

  // :api: methods rc_backend
}
named(Backend, "Backend");

/** Returns a backend itself, or opens the backend that a string names. */
export async function backendOf(
  backend: Backend | string | undefined,
): Promise<Backend> {
  return backend instanceof Backend ? backend : Backend.open(backend);
}

/** @c rc_discover */
export async function discover(): Promise<reports.Discovery> {
  return (await theEngine()).call("discover", []);
}
