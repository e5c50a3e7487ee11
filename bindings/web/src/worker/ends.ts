/** Work of the library that ends by a callback and reports its progress. */
import type { Library } from "./library.js";
import { StatusError } from "./status.js";

interface Pending {
  resolve: (handle: number) => void;
  reject: (error: unknown) => void;
}

/** Called with the fraction while the library works; returns whether to stop. */
export type Asked = (fraction: number) => boolean;

export class Ends {
  readonly #library: Library;
  readonly #pending = new Map<number, Pending>();
  readonly #asked = new Map<number, Asked>();
  readonly #ended: number;
  readonly #progress: number;
  #last = 0;

  constructor(library: Library) {
    this.#library = library;
    const { module } = library;
    this.#ended = module.addFunction(
      (user: number, status: number, message: number, handle: number) =>
        this.#end(user, status, message, handle),
      "viiii",
    );
    this.#progress = module.addFunction(
      (user: number, fraction: number) => {
        const asked = this.#asked.get(user);
        return asked !== undefined && asked(fraction) ? 1 : 0;
      },
      "iid",
    );
  }

  /** The callback that receives the number that `start` is given. */
  get callback(): number {
    return this.#ended;
  }

  /** Starts work, and resolves with the handle that its callback receives. */
  wait(start: (user: number) => void): Promise<number> {
    const user = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#pending.set(user, { resolve, reject });
      try {
        start(user);
      } catch (error) {
        this.#pending.delete(user);
        reject(error);
      }
    });
  }

  /**
   * The same for work that reports progress: `start` also receives the members
   * `progress` and `progress_user` of its options. Both are valid until it ends.
   */
  async waitWithProgress(
    asked: Asked,
    start: (
      user: number,
      progress: readonly (readonly [string, number])[],
    ) => void,
  ): Promise<number> {
    const { module } = this.#library;
    const key = ++this.#last;
    const record = module._malloc(8);
    this.#asked.set(key, asked);
    this.#library.view.setUint32(record, this.#progress, true);
    this.#library.view.setUint32(record + 4, key, true);
    try {
      return await this.wait((user) =>
        start(user, [
          ["progress", this.#library.call("rc_web_progress")],
          ["progress_user", record],
        ]),
      );
    } finally {
      this.#asked.delete(key);
      module._free(record);
    }
  }

  #end(user: number, status: number, message: number, handle: number): void {
    const pending = this.#pending.get(user);
    this.#pending.delete(user);
    if (pending === undefined) return;
    if (status === 0) pending.resolve(handle);
    else pending.reject(new StatusError(status, this.#library.text(message)));
  }
}
