// A backend of three ops in JavaScript; everything else runs on the CPU.
//
//     node own_backend.mjs [PROMPT]
import { pathToFileURL } from "node:url";

import { Backend, Model, registerBackend } from "runcible";

/** Decodes a weight to numbers, also q8_0: blocks of a scale and 32 numbers. */
function numbersOf({ data, dtype }) {
  if (dtype === "f32") return data;
  const blocks = data.length / 34;
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const numbers = new Float32Array(blocks * 32);
  for (let block = 0; block < blocks; ++block) {
    const scale = half(view.getUint16(34 * block, true));
    for (let i = 0; i < 32; ++i) {
      numbers[32 * block + i] = scale * view.getInt8(34 * block + 2 + i);
    }
  }
  return numbers;
}

/** Returns the number with these bits in binary16. */
function half(bits) {
  const fraction = bits & 0x3ff;
  const exponent = (bits >> 10) & 0x1f;
  const size =
    exponent === 0
      ? fraction * 2 ** -24
      : exponent === 31
        ? fraction === 0
          ? Infinity
          : NaN
        : (1 + fraction / 1024) * 2 ** (exponent - 15);
  return bits & 0x8000 ? -size : size;
}

/** See registerBackend; the ops are those of plugin_ops.h. */
export class OwnBackend {
  description = "three ops in JavaScript";
  capabilities = { add: ["f32"], rms_norm: ["f32"], linear: ["f32", "q8_0"] };
  // Decoded once, because weights do not change.
  #weights = new Map();

  health() {
    return `Node ${process.versions.node}`;
  }

  add(a, b, out) {
    for (let i = 0; i < out.data.length; ++i) out.data[i] = a.data[i] + b.data[i];
  }

  rms_norm(x, weight, out, { epsilon }) {
    const d = weight.data.length;
    for (let row = 0; row < out.data.length; row += d) {
      let sum = 0;
      for (let i = row; i < row + d; ++i) sum += x.data[i] * x.data[i];
      const root = Math.sqrt(sum / d + epsilon);
      for (let i = 0; i < d; ++i) {
        out.data[row + i] = (x.data[row + i] / root) * weight.data[i];
      }
    }
  }

  linear(x, weight, bias, residual, out) {
    let w = this.#weights.get(weight.weight);
    if (w === undefined) {
      w = Float32Array.from(numbersOf(weight)); // a copy that may be kept
      this.#weights.set(weight.weight, w);
    }
    const [rows, k] = x.shape;
    const n = out.shape[1];
    for (let row = 0; row < rows; ++row) {
      for (let i = 0; i < n; ++i) {
        // The residual may be the memory of the output.
        let sum = (bias?.data[i] ?? 0) + (residual?.data[row * n + i] ?? 0);
        for (let j = 0; j < k; ++j) sum += x.data[row * k + j] * w[i * k + j];
        out.data[row * n + i] = sum;
      }
    }
  }

  forget(weight) {
    this.#weights.delete(weight);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  registerBackend("own", new OwnBackend());
  const backend = await Backend.open("own,cpu");
  const model = await Model.load("builtin:fable", { backend });
  const prompt = process.argv.slice(2).join(" ") || "Once upon a time";
  process.stdout.write(prompt);
  const options = { maxTokens: 100 };
  for await (const piece of model.session().stream(prompt, options)) {
    process.stdout.write(piece.text);
  }
  process.stdout.write("\n");
}
