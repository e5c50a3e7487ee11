// A custom op: silu(x) times a gate, which many models compute between two products,
// as one op of a graph.
//
//     node silu_gate.mjs
import { Backend, CustomOp, Graph, Tensor } from "runcible";

const siluGate = new CustomOp({
  name: "silu_gate",
  // All three have the same shape, which may be any.
  signature: "x F32 [...], gate F32 [...] -> y F32 [...]",
  function: (x, gate, y) => {
    for (let i = 0; i < x.data.length; ++i) {
      y.data[i] = (x.data[i] / (1 + Math.exp(-x.data[i]))) * gate.data[i];
    }
  },
});

const backend = await Backend.open("cpu");
const x = Tensor.from([-1, 0, 1, 2], [4], backend);
const gate = Tensor.from([2, 2, 2, 0.5], [4], backend);
// Recorded once, and run with any numbers of these shapes.
const graph = await Graph.record(backend, [x, gate], (given, by) => {
  const [gated] = siluGate.compute([given, by]);
  return gated.add(given);
});
const [sum] = await graph.run([x, gate]);
for (const y of sum.toArray()) console.log(y.toFixed(4));
