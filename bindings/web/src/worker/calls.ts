/** Calls that the page may make, by name. */
import type { EventValues } from "../protocol.js";
import { Context, type Course } from "./context.js";
import type { Library } from "./library.js";
import { ModelCalls } from "./model_calls.js";
import { PlainCalls } from "./plain_calls.js";
import { Requests } from "./requests.js";
import { RowCalls } from "./row_calls.js";
import { SessionCalls } from "./session_calls.js";
import { status, StatusError } from "./status.js";
import { TextCalls } from "./text_calls.js";

export class Calls {
  readonly #known = new Map<string, (...args: unknown[]) => unknown>();

  constructor(
    library: Library,
    tellEvents: (events: readonly EventValues[]) => void,
  ) {
    const context = new Context(library);
    const requests = new Requests(library, context.handles, tellEvents);
    const groups = [
      new ModelCalls(context),
      new PlainCalls(context),
      new TextCalls(context),
      new SessionCalls(context, requests),
      new RowCalls(context),
    ];
    for (const group of groups) {
      const methods = group as unknown as Record<string, Function>;
      for (const name of Object.getOwnPropertyNames(group.constructor.prototype)) {
        if (name === "constructor") continue;
        this.#known.set(name, methods[name]!.bind(group));
      }
    }
  }

  call(course: Course, name: string, args: readonly unknown[]): unknown {
    const known = this.#known.get(name);
    if (known !== undefined) return known(course, ...args);
    throw new StatusError(status.INTERNAL, `the worker knows no ${name}`);
  }
}
