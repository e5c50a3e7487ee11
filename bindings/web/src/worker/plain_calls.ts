/** Reports of handles, and functions that take and return plain values. */
import type { Context, Course } from "./context.js";
import { readReport } from "./reports.js";
import { status, StatusError } from "./status.js";

/** An argument of a plain function. */
type Given = number | bigint | { readonly handle: number };

export class PlainCalls {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  report(_: Course, id: number, name: string, struct: string): object {
    return readReport(this.#context.library, name, struct, this.#context.handles.get(id));
  }

  plain(
    _: Course,
    id: number,
    name: string,
    gives: string,
    ...given: readonly Given[]
  ): unknown {
    const { library } = this.#context;
    const args = this.#args(name, given);
    return library.scoped((scope) => {
      const out = scope.room(8);
      const call = (...outs: number[]) =>
        library.check(name, this.#context.handles.get(id), ...args, ...outs);
      switch (gives) {
        case "":
          return call();
        case "int64":
          call(out);
          return Number(library.view.getBigInt64(out, true));
        case "tokens": {
          call(out, out + 4);
          const at = library.pointer(out);
          const tokens = library.int32s(at, library.pointer(out + 4));
          library.call("rc_free", at);
          return tokens;
        }
        case "bytes":
          call(out, out + 4);
          return this.#context.ownedBytes(library.pointer(out), library.pointer(out + 4));
        case "json":
          call(out);
          return JSON.parse(library.text(library.pointer(out)));
        case "owned json":
          call(out);
          return JSON.parse(this.#context.ownedText(library.pointer(out)));
        default:
          throw new StatusError(status.INTERNAL, `${name} gives ${gives}`);
      }
    });
  }

  /** Makes another handle of the same kind. */
  child(
    _: Course,
    of: number,
    name: string,
    id: number,
    ...given: readonly Given[]
  ): void {
    const args = this.#args(name, given);
    this.#context.handles.add(
      id,
      this.#context.made((out) =>
        this.#context.library.check(name, this.#context.handles.get(of), ...args, out),
      ),
    );
  }

  #args(name: string, given: readonly Given[]): (number | bigint)[] {
    return given.map((each) => {
      if (typeof each === "object") return this.#context.handles.get(each.handle);
      if (!Number.isSafeInteger(Number(each))) {
        throw new StatusError(
          status.INVALID_ARGUMENT,
          `${name.replace(/^rc_\w+_/, "")} takes a whole number, not ${each}`,
        );
      }
      return BigInt(each);
    });
  }

  release(_: Course, id: number, releasing: string): void {
    this.#context.handles.release(id, releasing);
  }
}
