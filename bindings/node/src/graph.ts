/** Graphs: ops of tensors that are recorded once and run many times. */
import { Backend } from "./backend";
import { Handle, milliseconds, need, shown, type Proxy } from "./handle";
import { native } from "./native";
import type * as reports from "./reports";
import { Tensor } from "./tensor";
import { readReport } from "./report_values";

export interface RunOptions {
  /** The limit in milliseconds; after that the run ends with TimeoutError. */
  deadline?: number | undefined;
}

/** @internal */
export function listOf(tensors: Iterable<Tensor>, what: string): Proxy {
  if (typeof tensors?.[Symbol.iterator] !== "function") {
    throw new TypeError(`${what}s must be a list of tensors, not ${shown(tensors)}`);
  }
  const list = new native.tensor_list();
  for (const each of tensors) list.add(need(each, Tensor, what));
  return list;
}

const limit = ({ deadline }: RunOptions): number =>
  deadline === undefined ? 0 : milliseconds(deadline, "deadline");

/**
 * The tensor ops of a function, recorded as one and run many times.
 *
 *     const graph = await Graph.record(backend, [x], (x) => x.mul(scale).relu());
 *     const [y] = await graph.run([x2]);
 *
 * A chain of elementwise ops passes over memory once, and a product includes the bias
 * and the function that follow. The results equal those of the separate ops.
 */
export class Graph extends Handle {
  readonly #outputs: number;

  private constructor(proxy: Proxy, outputs: number) {
    super(proxy);
    this.#outputs = outputs;
  }

  // :api: release rc_graph

  /**
   * Calls a function with tensors that stand for the inputs, with the types and shapes
   * of the tensors in a list; its ops are recorded and not computed. It returns the
   * outputs, which each run makes again; other tensors that it uses are constants. The
   * op reports types and shapes that do not fit.
   */
  static async record(
    backend: Backend,
    like: readonly Tensor[],
    ops: (...inputs: Tensor[]) => Tensor | readonly Tensor[],
  ): Promise<Graph> {
    const proxy = native.graph_begin(need(backend, Backend, "backend"));
    const standIns = [...like].map((each) =>
      Tensor._of(
        native.graph_input(
          proxy,
          native.tensor_dtype(need(each, Tensor, "an input")),
          each.shape,
        ),
      ),
    );
    const made = ops(...standIns);
    const outputs = made instanceof Tensor ? [made] : [...made];
    await native.graph_finish_later(proxy, listOf(outputs, "an output"));
    for (const each of standIns) each.close();
    return new Graph(proxy, outputs.length);
  }

  /**
   * Returns the outputs for these inputs, with the number, types and shapes that were
   * recorded. A signal ends all runs of the graph in flight.
   */
  async run(
    inputs: readonly Tensor[],
    options: RunOptions & { signal?: AbortSignal | undefined } = {},
  ): Promise<Tensor[]> {
    const { signal } = options;
    signal?.throwIfAborted();
    const handle = this._handle;
    const state = new native.load_state();
    const stop = () => {
      state.cancel();
      if (!this.closed) native.graph_cancel(handle);
    };
    const running = native.graph_compute_later(
      handle, listOf(inputs, "an input"), limit(options), state,
    );
    signal?.addEventListener("abort", stop);
    try {
      const made: Proxy[] = await running;
      return made.map((each) => Tensor._of(each));
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      signal?.removeEventListener("abort", stop);
    }
  }

  /** @c rc_graph_cancel */
  cancel(): void {
    native.graph_cancel(this._handle);
  }

  /** Like run, blocking. */
  runSync(inputs: readonly Tensor[], options: RunOptions = {}): Tensor[] {
    const made = new native.tensor_list();
    native.graph_compute_serving(
      this._handle, listOf(inputs, "an input"), limit(options), made,
    );
    return Array.from({ length: this.#outputs }, (_, i) =>
      Tensor._of(native.tensor_of_list(made, i)),
    );
  }

  // :api: methods rc_graph
}
