/** Workers for threads of the library, with the interface that Emscripten uses. */
import type { FromWorker } from "../protocol.js";

const scope = globalThis as unknown as DedicatedWorkerGlobalScope;

/**
 * A worker that the page makes. It ends with the engine: threads that end leave their
 * workers to others, and nothing else ends them.
 */
export class ThreadWorker {
  onmessage: ((event: MessageEvent) => void) | null = null;
  onerror: ((event: ErrorEvent) => void) | null = null;
  readonly #port: MessagePort;

  constructor(script: string | URL) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.onmessage = (event) => this.onmessage?.(event);
    const message: FromWorker = { thread: { script: String(script), port: port2 } };
    scope.postMessage(message, [port2]);
  }

  postMessage(message: unknown, transfer: Transferable[] = []): void {
    this.#port.postMessage(message, transfer);
  }
}
