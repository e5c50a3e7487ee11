/**
 * What a request gives, read by who waits for it. The packages for Node and for pages
 * have this file both; their build copies it.
 */

export type Result<T> = IteratorResult<T, undefined>;

export const DONE: Result<never> = Object.freeze({ done: true, value: undefined });

interface Waiter {
  resolve: (result: Result<any>) => void;
  reject: (error: unknown) => void;
  /** What is waited for is not lost. */
  stream: object;
}

/** What has come of one request and was not yet read. */
export class Channel<End> {
  end: End | undefined;
  #parts: any[] = [];
  #next = 0;
  #waiters: Waiter[] = [];
  #failure: unknown;
  #ended = false;
  #told = false;
  #whenEnded: (() => void)[] = [];

  get ended(): boolean {
    return this.#ended;
  }

  push(part: any): void {
    const waiter = this.#waiters.shift();
    if (waiter !== undefined) {
      waiter.resolve({ done: false, value: part });
    } else if (!this.#told) {
      this.#parts.push(part);
    }
  }

  /** `failure` is thrown after the last piece, unless it is undefined. */
  finish(end: End | undefined, failure: unknown): void {
    this.end = end;
    this.#failure = failure;
    this.#ended = true;
    for (const waiter of this.#waiters.splice(0)) this.#settle(waiter);
    for (const told of this.#whenEnded.splice(0)) told();
  }

  read<T>(stream: object): Promise<Result<T>> {
    const part = this.#parts[this.#next];
    if (part !== undefined) {
      if (++this.#next === this.#parts.length) {
        this.#parts = [];
        this.#next = 0;
      }
      return Promise.resolve({ done: false, value: part });
    }
    return new Promise((resolve, reject) => {
      const waiter = { resolve, reject, stream };
      if (this.#ended) this.#settle(waiter);
      else this.#waiters.push(waiter);
    });
  }

  /** Nobody reads on. */
  drop(): void {
    this.#told = true;
    this.#parts = [];
    this.#next = 0;
  }

  whenEnded(): Promise<void> {
    if (this.#ended) return Promise.resolve();
    return new Promise((resolve) => this.#whenEnded.push(resolve));
  }

  /** The failure is told once. */
  #settle(waiter: Waiter): void {
    if (!this.#told && this.#failure !== undefined) {
      this.#told = true;
      waiter.reject(this.#failure);
    } else {
      waiter.resolve(DONE);
    }
  }
}
