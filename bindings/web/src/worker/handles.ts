/** Handles of the library by the numbers that the page has assigned. */
import type { Library } from "./library.js";
import { StatusError, status } from "./status.js";

export class Handles {
  readonly #library: Library;
  readonly #pointers = new Map<number, number>();
  /** Errors of objects that could not be made, until the page releases them. */
  readonly #failures = new Map<number, unknown>();
  /** Functions to call once a handle has been released. */
  readonly #whenReleased = new Map<number, () => void>();

  constructor(library: Library) {
    this.#library = library;
  }

  add(id: number, pointer: number): void {
    this.#pointers.set(id, pointer);
  }

  /** Makes an object whose number the page has; its first use reports an error. */
  make(id: number, make: () => number): void {
    try {
      this.#pointers.set(id, make());
    } catch (error) {
      this.#failures.set(id, error);
    }
  }

  get(id: number): number {
    const pointer = this.#pointers.get(id);
    if (pointer !== undefined) return pointer;
    if (this.#failures.has(id)) throw this.#failures.get(id);
    throw new StatusError(status.CLOSED, "the object is closed");
  }

  whenReleased(id: number, work: () => void): void {
    this.#whenReleased.set(id, work);
  }

  release(id: number, releasing: string): void {
    const pointer = this.#pointers.get(id);
    this.#pointers.delete(id);
    this.#failures.delete(id);
    if (pointer !== undefined) this.#library.call(releasing, pointer);
    this.#whenReleased.get(id)?.();
    this.#whenReleased.delete(id);
  }
}
