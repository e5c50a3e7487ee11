/** Backends, and models that are fetched and loaded. */
import type { Entry, Source } from "../protocol.js";
import { Cache } from "./cache.js";
import type { Context, Course } from "./context.js";
import { Files } from "./files.js";
import { standBy } from "./module.js";
import { readReport } from "./reports.js";

/** The part of a load that fetching takes. */
const FETCHING = 0.9;

export class ModelCalls {
  readonly #context: Context;
  readonly #files: Files;
  readonly #cache = new Cache();

  constructor(context: Context) {
    this.#context = context;
    this.#files = new Files(context.library.module, this.#cache);
  }

  async open(
    course: Course,
    id: number,
    spec: string | undefined,
    options: readonly Entry[],
  ): Promise<void> {
    const { library } = this.#context;
    const pointer = await this.#context.ends.waitWithProgress(
      this.#asked(course, 0, 1),
      (user, progress) =>
        library.scoped((scope) =>
          library.check(
            "rc_backend_open_async",
            spec === undefined ? 0 : scope.plainText(spec, "spec"),
            scope.struct("backend_options", [...options, ...progress]),
            0,
            this.#context.ends.callback,
            user,
          ),
        ),
    );
    this.#context.handles.add(id, pointer);
    await standBy(library.module);
  }

  async discover(): Promise<object> {
    const { library } = this.#context;
    const list = await this.#context.ends.wait((user) =>
      library.check("rc_discover_async", 0, 0, 0, this.#context.ends.callback, user),
    );
    try {
      const count: number = library.call("rc_device_list_count", list);
      const devices = Array.from({ length: count }, (_, i) =>
        readReport(library, "rc_device_list_get", "device_report", list, i),
      );
      const automatic = library.text(
        library.call("rc_device_list_automatic", list),
      );
      return { devices, automatic };
    } finally {
      library.call("rc_device_list_release", list);
    }
  }

  async load(
    course: Course,
    backend: number,
    id: number,
    source: Source,
    options: readonly Entry[],
  ): Promise<void> {
    const { library } = this.#context;
    const fetched = "files" in source ? 0 : FETCHING;
    const file = await this.#files.take(source, {
      signal: course.signal,
      progress: (fraction, of) => course.progress(fetched * fraction, of),
    });
    try {
      const pointer = await this.#context.ends.waitWithProgress(
        this.#asked(course, fetched, 1),
        (user, progress) =>
          library.scoped((scope) =>
            library.check(
              "rc_model_load_async",
              this.#context.handles.get(backend),
              scope.plainText(file.path, "name"),
              scope.struct("model_options", [...options, ...progress]),
              0,
              this.#context.ends.callback,
              user,
            ),
          ),
      );
      this.#context.handles.add(id, pointer);
      this.#context.handles.whenReleased(id, file.leave);
      await standBy(library.module);
      course.progress(1, { stage: "load", bytes: 0, total: 0 });
    } catch (error) {
      file.leave();
      throw error;
    }
  }

  #asked(course: Course, from: number, to: number) {
    return (fraction: number) => {
      course.progress(from + (to - from) * fraction, {
        stage: "load",
        bytes: 0,
        total: 0,
      });
      return course.signal.aborted;
    };
  }

  cachedModels(): Promise<object[]> {
    return this.#cache.list();
  }

  removeCachedModel(_: Course, url: string): Promise<void> {
    return this.#cache.remove(url);
  }

  metadata(_: Course, model: number): Record<string, unknown> {
    const { library } = this.#context;
    return library.scoped((scope) => {
      const out = scope.room(8);
      library.check("rc_model_get_info", this.#context.handles.get(model), out);
      const info = library.pointer(out);
      try {
        const values: Record<string, unknown> = {};
        const count: number = library.call("rc_model_info_metadata_count", info);
        for (let i = 0; i < count; ++i) {
          library.check("rc_model_info_metadata", info, i, out, out + 4);
          const key = library.pointer(out);
          const name = library.text(key);
          library.check("rc_model_info_value", info, key, 0, out);
          values[name] = JSON.parse(this.#context.ownedText(library.pointer(out)));
        }
        return values;
      } finally {
        library.call("rc_model_info_release", info);
      }
    });
  }
}
