/** State that all calls need. */
import type { Progress } from "../protocol.js";
import { Ends } from "./ends.js";
import { Handles } from "./handles.js";
import type { Library } from "./library.js";

/** The signal and progress of a call that may take long. */
export interface Course {
  readonly signal: AbortSignal;
  progress(fraction: number, of: Progress): void;
}

export class Context {
  readonly library: Library;
  readonly handles: Handles;
  readonly ends: Ends;

  constructor(library: Library) {
    this.library = library;
    this.handles = new Handles(library);
    this.ends = new Ends(library);
  }

  /** Returns the handle that a function stores through a pointer. */
  made(make: (out: number) => void): number {
    return this.library.scoped((scope) => {
      const out = scope.room(4);
      make(out);
      return this.library.pointer(out);
    });
  }

  /** Returns a text that the library passed on, and frees it. */
  ownedText(at: number): string {
    const text = this.library.text(at);
    this.library.call("rc_free", at);
    return text;
  }

  ownedBytes(at: number, size: number): Uint8Array {
    const bytes = this.library.copy(at, size);
    this.library.call("rc_free", at);
    return bytes;
  }
}
