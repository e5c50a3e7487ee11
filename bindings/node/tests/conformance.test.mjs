// Runs the cases of bindings/conformance/cases.json in Node.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import {
  Backend,
  CustomOp,
  Grammar,
  Graph,
  Model,
  Pinned,
  Reasoning,
  RuncibleError,
  Session,
  Tensor,
  ToolCall,
  discover,
  errors,
} from "runcible";

const casesUrl = new URL("../../conformance/cases.json", import.meta.url);
const document = JSON.parse(readFileSync(casesUrl, "utf8"));
const golden = JSON.parse(
  readFileSync(new URL(document.golden, casesUrl), "utf8"),
);

/** The exception of a status; "IO" is that of RC_E_IO. */
function errorClass(name) {
  const words = name.split("_").map((word) => word[0] + word.slice(1).toLowerCase());
  const found = errors[name === "IO" ? "FileError" : words.join("") + "Error"];
  assert.ok(new found("") instanceof RuncibleError, name);
  return found;
}

const camel = (name) => name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());

/** Options as the package has them: other names, and times in milliseconds. */
function optionsOf(given = {}) {
  const options = {};
  for (const [name, value] of Object.entries(given)) {
    options[camel(name)] = name === "deadline" ? value * 1000 : value;
  }
  return options;
}

/** Kinds of grammars as the package has them. */
const kinds = { json_schema: "jsonSchema" };

class Runner {
  constructor(folder) {
    this.folder = folder;
    this.objects = {};
  }

  /** What a step means by a value. */
  value(given) {
    if (given?.file !== undefined) return this.objects[given.file];
    if (given?.golden === undefined) return given;
    return given.golden.split("/").reduce((found, key) => found[key], golden);
  }

  async step(given) {
    const step = {};
    for (const [key, value] of Object.entries(given)) {
      step[key] = this.value(value);
    }
    const action = async () => this[step.do](step);
    if (step.raises === undefined) return action();
    await assert.rejects(action, (error) => {
      assert.equal(error.constructor, errorClass(step.raises), error.message);
      assert.ok(error.message.length > 0);
      assert.ok(error.message.includes(step.says ?? ""), error.message);
      assert.ok(error.message.includes(camel(step.names ?? "")), error.message);
      assert.doesNotMatch(error.message, /\b(rc|RC)_|->/);
      if (step.reason) assert.equal(error.report.reason, step.reason);
      return true;
    });
  }

  /** Options of generating, with the grammar that is named. */
  options(step) {
    const { grammar, ...options } = optionsOf(step.options);
    return grammar === undefined
      ? options
      : { ...options, grammar: this.objects[grammar] };
  }

  checkReply(step, { text, reasoning, toolCalls, report }) {
    const calls = toolCalls.map((each) => ({ ...each }));
    assert.deepEqual({ text, reasoning, calls }, step.expect);
    assert.equal(report.reason, step.reason);
  }

  checkText(step, text) {
    assert.ok(text.length > 0);
    if (step.expect !== undefined) assert.equal(text, step.expect);
    assert.ok((step.expect_start_of ?? text).startsWith(text));
  }

  // The steps.

  async load(step) {
    const backend = await Backend.open(
      step.backend,
      optionsOf(step.backend_options),
    );
    this.objects[step.as] =
      step.hub === undefined
        ? await Model.load(step.path ?? "builtin:fable", { backend })
        : await Model.fromHub(step.hub, { backend });
  }

  near(row, expected) {
    expected.forEach((number, i) =>
      assert.ok(Math.abs(row[i] - number) < 2e-3, `${row[i]} for ${number}`),
    );
  }

  async embed(step) {
    const rows = await this.objects[step.model].embed(step.texts);
    assert.equal(rows.length, step.expect.length);
    rows.forEach((row, i) => this.near(row, step.expect[i]));
  }

  async rerank(step) {
    const scores = await this.objects[step.model].rerank(
      step.query,
      step.documents,
    );
    assert.equal(scores.length, step.expect.length);
    this.near(scores, step.expect);
  }

  report(step) {
    const { report } = this.objects[step.model];
    for (const [name, expected] of Object.entries(step.expect)) {
      assert.equal(report[camel(name)], expected);
    }
  }

  tokenize(step) {
    const model = this.objects[step.model];
    const tokens = model.tokenize(step.text, { addSpecial: false });
    assert.deepEqual([...tokens], step.expect);
  }

  detokenize(step) {
    const model = this.objects[step.model];
    assert.equal(model.detokenize(step.tokens), step.expect);
  }

  session(step) {
    const model = this.objects[step.model];
    this.objects[step.as] = model.session(optionsOf(step.options));
  }

  async generate(step) {
    const { text, report } = await this.objects[step.session].generate(
      step.prompt,
      this.options(step),
    );
    this.checkText(step, text);
    assert.equal(report.reason, step.reason);
  }

  async stream(step) {
    const stream = this.objects[step.session].stream(
      step.prompt,
      this.options(step),
    );
    const pieces = [];
    for await (const piece of stream) {
      pieces.push(piece.text);
      if (pieces.length === step.cancel_after) stream.cancel();
    }
    this.checkText(step, pieces.join(""));
    assert.ok(pieces.length >= (step.pieces ?? 0));
    assert.equal(stream.report.reason, step.reason);
  }

  async together(step) {
    await Promise.all(step.steps.map((each) => this.step(each)));
  }

  async tokens(step) {
    // The end token ends a text and is no part of the session.
    const tokens = [...(await this.objects[step.session].tokens())];
    assert.deepEqual(tokens, step.expect.slice(0, tokens.length));
    assert.ok(tokens.length >= step.expect.length - 1);
  }

  async append(step) {
    await this.objects[step.session].append(step.text ?? step.tokens);
  }

  statuses(step) {
    for (const [name, number] of Object.entries(step.expect)) {
      assert.equal(errorClass(name).status, number);
      const error = errors.ofStatus(number, "a message");
      assert.equal(error.constructor, errorClass(name));
      assert.match(error.code, /^(E[A-Z]+|(ERR|ABORT)_[A-Z_]+)$/);
      assert.equal(error.message, "a message");
    }
  }

  file(step) {
    const path = join(this.folder, step.as);
    writeFileSync(path, step.text);
    this.objects[step.as] = path;
  }

  start(step) {
    this.objects[step.as] = this.objects[step.session].stream(
      step.prompt,
      optionsOf(step.options),
    );
  }

  async finish(step) {
    const stream = this.objects[step.generation];
    await stream.return();
    assert.equal(stream.report.reason, "cancelled");
  }

  close(step) {
    this.objects[step.object].close();
  }

  async save(step) {
    const path = join(this.folder, "session.gguf");
    await this.objects[step.session].save(path);
    this.objects[step.as] = path;
  }

  async restore(step) {
    const model = this.objects[step.model];
    this.objects[step.as] = await Session.restore(
      model,
      this.objects[step.saved],
    );
  }

  async fork(step) {
    this.objects[step.as] = await this.objects[step.session].fork();
  }

  async grammar(step) {
    this.objects[step.as] = await Grammar[kinds[step.kind] ?? step.kind](
      this.objects[step.model],
      step.schema ?? step.choices ?? step.text,
      step.options && optionsOf(step.options),
    );
  }

  chat(step) {
    const session = this.objects[step.session];
    this.objects[step.as] = session.chat(optionsOf(step.options));
  }

  add(step) {
    this.objects[step.chat].add(step.messages);
  }

  undo(step) {
    this.objects[step.chat].undo(step.count);
  }

  messages(step) {
    assert.deepEqual(this.objects[step.chat].messages(), step.expect);
  }

  fork_chat(step) {
    this.objects[step.as] = this.objects[step.chat].fork();
  }

  async answer(step) {
    const stream = this.objects[step.chat].answer(this.options(step));
    const toolCalls = [];
    let text = "";
    let reasoning = "";
    for await (const part of stream) {
      if (part instanceof ToolCall) toolCalls.push(part);
      else if (part instanceof Reasoning) reasoning += part;
      else text += part;
    }
    const { report } = stream;
    this.checkReply(step, { text, reasoning, toolCalls, report });
  }

  async ask(step) {
    const chat = this.objects[step.chat];
    this.checkReply(step, await chat.ask(step.text, this.options(step)));
  }

  async decode(step) {
    await this.objects[step.session].decode({ allLogits: step.all_logits });
  }

  async logits(step) {
    const logits = await this.objects[step.session].logits();
    assert.ok(logits.data instanceof Float32Array);
    assert.equal(logits.rows, step.rows);
    assert.equal(logits.vocabulary, step.vocabulary);
    const row = logits.row(step.row);
    assert.equal(row.indexOf(Math.max(...row)), step.largest);
    const sum = row.reduce((total, logit) => total + logit, 0);
    assert.ok(Math.abs(sum - step.sum) <= step.tolerance * Math.abs(step.sum));
  }

  async tensor(step) {
    const size = step.shape.reduce((total, n) => total * n, 1);
    const values = step.values ?? new Array(size).fill(step.fill);
    const backend = await Backend.open(step.backend);
    this.objects[step.as] = Tensor.from(values, step.shape, backend);
  }

  matmul(step) {
    this.objects[step.as] = this.objects[step.a].matmul(this.objects[step.b]);
  }

  quantize(step) {
    this.objects[step.tensor].quantize(step.dtype);
  }

  read(step) {
    const tensor = this.objects[step.tensor];
    assert.deepEqual(tensor.shape, step.expect_shape);
    assert.deepEqual([...tensor.toArray()], step.expect);
  }

  named(names) {
    return names.map((name) => this.objects[name]);
  }

  async record(step) {
    const backend = await Backend.open(step.backend);
    this.objects[step.as] = await Graph.record(
      backend,
      this.named(step.like),
      (...values) => {
        for (const [op, x, ...others] of step.ops) {
          values.push(values[x][op](...others.map((i) => values[i])));
        }
        return step.outputs.map((i) => values[i]);
      },
    );
  }

  keep(names, made) {
    assert.equal(made.length, names.length);
    names.forEach((name, i) => (this.objects[name] = made[i]));
  }

  run(step) {
    this.keep(step.as, this.objects[step.graph].runSync(this.named(step.inputs)));
  }

  async run_later(step) {
    this.keep(step.as, await this.objects[step.graph].run(this.named(step.inputs)));
  }

  async open_later(step) {
    const told = [];
    const backend = await Backend.open(step.spec, { progress: (done) => told.push(done) });
    assert.equal(told.at(-1), 1);
    assert.equal(backend.device.id, step.expect);
  }

  async switch(step) {
    const backend = await Backend.open(step.from);
    await backend.switch(step.spec);
    assert.equal(backend.device.id, step.expect);
  }

  custom_op({ as, name, signature, attributes, items }) {
    const library = process.env.RUNCIBLE_CUSTOM_OP;
    this.objects[as] = new CustomOp({ name, signature, attributes, items, library });
  }

  compute(step) {
    const { scale } = step;
    this.keep(step.as, this.objects[step.op].compute(this.named(step.inputs), { scale }));
  }

  async pinned(step) {
    const bytes = step.shape.reduce((total, n) => total * n, 4);
    const backend = await Backend.open(step.backend);
    const memory = new Pinned(backend, bytes, step.device);
    const numbers = new Float32Array(memory.buffer);
    assert.ok(numbers.every((each) => each === 0));
    numbers.set(step.values);
    this.objects[step.as] = memory;
  }

  numbersOf(step) {
    return new Float32Array(this.objects[step.memory].buffer);
  }

  async from_pinned(step) {
    const backend = await Backend.open(step.backend);
    this.objects[step.as] = Tensor.from(this.numbersOf(step), step.shape, backend);
  }

  async borrow_pinned(step) {
    const backend = await Backend.open(step.backend);
    this.objects[step.as] = Tensor.borrow(this.numbersOf(step), step.shape, backend);
  }

  write_pinned(step) {
    this.numbersOf(step).set(step.values);
  }

  read_into(step) {
    const numbers = this.numbersOf(step);
    this.objects[step.tensor].readInto(numbers);
    assert.deepEqual([...numbers], step.expect);
  }

  drop_pinned(step) {
    this.objects[step.memory].close();
  }

  async discover_later(step) {
    const { devices } = await discover();
    assert.ok(devices.some(({ id }) => id === step.expect));
  }
}

const lines = ["language\tNode"];
for (const { name, steps } of document.cases) {
  test(name, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "runcible-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const runner = new Runner(folder);
    for (const step of steps) await runner.step(step);
    lines.push(`passed\t${name}`);
  });
}

after(() => {
  const path = process.env.RUNCIBLE_CASES_REPORT;
  if (path) writeFileSync(path, lines.join("\n") + "\n");
});
