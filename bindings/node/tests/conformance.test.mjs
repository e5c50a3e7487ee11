// Runs the cases of bindings/conformance/cases.json in Node.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import * as runcible from "runcible";

import { Runner, optionsOf } from "../../conformance/javascript.mjs";

const { CustomOp, Pinned, Tensor } = runcible;
const casesUrl = new URL("../../conformance/cases.json", import.meta.url);
const document = JSON.parse(readFileSync(casesUrl, "utf8"));
const golden = JSON.parse(readFileSync(new URL(document.golden, casesUrl), "utf8"));

const numbersOf = (memory) => new Float32Array(memory.buffer);

class NodeRunner extends Runner {
  constructor(folder) {
    super(runcible, golden, assert.deepEqual);
    this.folder = folder;
  }

  path(name) {
    return join(this.folder, name);
  }

  do_leave(session, [prompt], options) {
    const generation = session.streamSync(prompt, optionsOf(options));
    generation.next();
    return generation;
  }

  do_file(_, [path, text]) {
    writeFileSync(path, text);
  }

  do_plan(_, [path, backend], options) {
    return runcible.plan(path, { backend, ...optionsOf(options) });
  }

  do_Tensor_of(_, [values, shape, backend], options) {
    return Tensor.from(values, shape, backend, options);
  }

  do_rope(tensor, [positions], options) {
    return tensor.rope(positions, undefined, options);
  }

  do_record(Graph, [backend, like, ops, outputs, kept = []]) {
    return Graph.record(backend, like, (...inputs) => {
      const values = [...inputs, ...kept];
      for (const [op, x, ...others] of ops) {
        this.objects.recorded = values[x][op](...others.map((i) => values[i]));
        values.push(this.objects.recorded);
      }
      return outputs.map((i) => values[i]);
    });
  }

  do_run(graph, [inputs]) {
    return graph.runSync(inputs);
  }

  do_run_later(graph, [inputs], options) {
    return graph.run(inputs, optionsOf(options));
  }

  do_switch_later(backend, [spec], { wait } = { wait: 0 }) {
    return backend.switch(spec, { wait: wait * 1000 });
  }

  do_CustomOp_of(_, given, options) {
    return new CustomOp({ ...options, library: process.env.RUNCIBLE_CUSTOM_OP });
  }

  do_Pinned_of(_, [values, backend, device]) {
    const memory = new Pinned(backend, 4 * values.length, device);
    assert.ok(numbersOf(memory).every((each) => each === 0));
    numbersOf(memory).set(values);
    return memory;
  }

  do_from_pinned(_, [memory, shape, backend]) {
    return Tensor.from(numbersOf(memory), shape, backend);
  }

  do_borrow_pinned(_, [memory, shape, backend]) {
    return Tensor.borrow(numbersOf(memory), shape, backend);
  }

  do_write_pinned(memory, [values]) {
    numbersOf(memory).set(values);
  }

  do_read_into(tensor, [memory]) {
    tensor.readInto(numbersOf(memory));
    return [...numbersOf(memory)];
  }

  do_drop(_, [name]) {
    this.objects[name].close();
  }
}

const lines = ["language\tNode"];
for (const { name, steps } of document.cases) {
  test(name, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "runcible-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const runner = new NodeRunner(folder);
    for (const step of steps) await runner.step(step);
    lines.push(`passed\t${name}`);
  });
}

after(() => {
  const path = process.env.RUNCIBLE_CASES_REPORT;
  if (path) writeFileSync(path, lines.join("\n") + "\n");
});
