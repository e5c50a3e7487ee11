/**
 * Passes the parts of a request to its readers. The packages for Node and for pages
 * share this file; their build copies it.
 */

export type Result<T> = IteratorResult<T, undefined>;

export const DONE: Result<never> = Object.freeze({ done: true, value: undefined });

interface Waiter {
  resolve: (result: Result<any>) => void;
  reject: (error: unknown) => void;
  /** Keeps the stream alive while a read waits for it. */
  stream: object;
}

/** The parts of one request that have not been read. */
export class Channel<End> {
  end: End | undefined;
  #parts: any[] = [];
  #next = 0;
  #waiters: Waiter[] = [];
  #failure: unknown;
  #ended = false;
  #closed = false;
  #whenEnded: (() => void)[] = [];

  get ended(): boolean {
    return this.#ended;
  }

  push(part: any): void {
    const waiter = this.#waiters.shift();
    if (waiter !== undefined) {
      waiter.resolve({ done: false, value: part });
    } else if (!this.#closed) {
      this.#parts.push(part);
    }
  }

  /** `failure` is thrown after the last piece, unless it is undefined. */
  finish(end: End | undefined, failure: unknown): void {
    this.end = end;
    this.#failure = failure;
    this.#ended = true;
    for (const waiter of this.#waiters.splice(0)) this.#settle(waiter);
    for (const notify of this.#whenEnded.splice(0)) notify();
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

  /** Drops the parts; nothing reads on. */
  drop(): void {
    this.#closed = true;
    this.#parts = [];
    this.#next = 0;
  }

  whenEnded(): Promise<void> {
    if (this.#ended) return Promise.resolve();
    return new Promise((resolve) => this.#whenEnded.push(resolve));
  }

  /** Reports the failure once. */
  #settle(waiter: Waiter): void {
    if (!this.#closed && this.#failure !== undefined) {
      this.#closed = true;
      waiter.reject(this.#failure);
    } else {
      waiter.resolve(DONE);
    }
  }
}
