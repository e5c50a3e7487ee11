/** Custom ops: tensor ops that the program defines. */
import { listOf } from "./graph";
import { Handle, optionsOf, shown, type Proxy } from "./handle";
import { native } from "./native";
import { failed, operand, settle, type Done, type Native } from "./ops";
import { Tensor } from "./tensor";

/**
 * Computes an op: receives the inputs and the outputs in the order of the signature,
 * each an Operand, and the attributes by name, and writes the outputs. It runs on the
 * thread that made the op. An exception that it throws is the failure of the op. In
 * Graph.run it may return a promise; a call that blocks must not wait for one.
 */
export type CustomFunction = (...operands: any[]) => unknown;

/** @c rc_custom_op_options */
export interface CustomOpOptions {
  // :api: options rc_custom_op_options
  /** Computes the op on devices that compute in host memory. */
  function?: CustomFunction | undefined;
  /**
   * A C function in place of `function`: its name in the shared library at the path
   * `library`, which stays loaded.
   */
  library?: string | undefined;
  symbol?: string | undefined;
  /** A C function in place of `function`: its address. */
  address?: number | bigint | undefined;
}

type Call = { params: string; inputs: Native[]; outputs: Native[] };

/** Returns the function that C++ calls; see swig/custom_op.h. */
function computing(
  run: CustomFunction,
  names: readonly string[],
): (call: Call, done: Done) => void {
  return (call, done) =>
    settle(
      () => {
        const numbers: number[] = JSON.parse(call.params);
        const attributes = Object.fromEntries(names.map((name, i) => [name, numbers[i]]));
        return run(...call.inputs.map(operand), ...call.outputs.map(operand), attributes);
      },
      done,
      () => [0, ""],
      failed,
    );
}

/** @c custom_op.h */
export class CustomOp extends Handle {
  /** The name in messages. */
  readonly name: string;
  readonly #attributes: readonly string[];
  readonly #outputs: number;

  /** An op of kernels, a function, or both; nothing is compiled yet. */
  constructor(options: CustomOpOptions) {
    const nothing = () => {};
    const made = optionsOf("custom_op_options", options, {
      function: nothing,
      library: nothing,
      symbol: nothing,
      address: nothing,
    });
    const { function: run, library, symbol, address } = options;
    const names = Array.from(
      (options.attributes ?? "").matchAll(/(\w+)\s+\w+/g), ([, name]) => name!,
    );
    if (address !== undefined) made.set_function(address);
    if (library !== undefined) made.set_function_of(library, symbol ?? made.name);
    if (run !== undefined && typeof run !== "function") {
      throw new TypeError(`function must be a function, not ${shown(run)}`);
    }
    if (run !== undefined && options.items !== undefined) {
      throw new TypeError(
        "items divide the work of a C function; a JavaScript function has one",
      );
    }
    super(
      run === undefined
        ? native.custom_op_create(made)
        : native.custom_op_of_function(made, computing(run, names)),
    );
    this.name = made.name;
    this.#attributes = names;
    this.#outputs = made.outputs();
  }

  // :api: release rc_custom_op

  /**
   * Returns the outputs for these inputs, and for attributes by name. If a graph records
   * an input, it records the op. Blocks, and meanwhile runs functions of this thread.
   */
  compute(
    inputs: readonly Tensor[],
    attributes: Readonly<Record<string, number>> = {},
  ): Tensor[] {
    const numbers = new native.number_list();
    for (const name of this.#attributes) {
      const value = attributes[name];
      if (typeof value !== "number") {
        throw new TypeError(
          `${this.name} needs the attribute ${name}, a number, not ${shown(value)}`,
        );
      }
      numbers.add(value);
    }
    for (const name of Object.keys(attributes)) {
      if (!this.#attributes.includes(name)) {
        throw new TypeError(
          `${this.name} has no attribute ${name}, but ${this.#attributes.join(", ") || "none"}`,
        );
      }
    }
    const made: Proxy = new native.tensor_list();
    native.custom_op_compute_serving(
      this._handle, listOf(inputs, "an input"), numbers, this.#outputs, made,
    );
    return Array.from({ length: this.#outputs }, (_, i) =>
      Tensor._of(native.tensor_of_list(made, i)),
    );
  }
}
