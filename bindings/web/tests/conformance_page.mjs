// Runs the cases of bindings/conformance/cases.json in a page.
const equal = (found, wanted, what = "") => {
  const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)];
  if (a !== b) throw new Error(`${what} ${a} instead of ${b}`);
};
const ok = (fact, what) => {
  if (!fact) throw new Error(what);
};

/** The exception of a status; "IO" is that of RC_E_IO. */
function errorClass(name) {
  const { errors, RuncibleError } = runcible;
  const words = name.split("_").map((word) => word[0] + word.slice(1).toLowerCase());
  const found = errors[name === "IO" ? "FileError" : words.join("") + "Error"];
  ok(new found("") instanceof RuncibleError, name);
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

/** What the hub of the other languages has, by URL. */
const hub = {
  "o/e": "/converted/bert-mean.gguf",
  "o/c": "/converted/bert-cross.gguf",
};

/** What a page cannot read, where a program cannot read a folder. */
const paths = { "/": "http://localhost:1/model.gguf" };

class Runner {
  constructor(golden) {
    this.golden = golden;
    this.objects = {};
  }

  /** What a step means by a value. */
  value(given) {
    if (given?.file !== undefined) return this.objects[given.file];
    if (given?.golden === undefined) return given;
    return given.golden.split("/").reduce((found, key) => found[key], this.golden);
  }

  async step(given) {
    const step = {};
    for (const [key, value] of Object.entries(given)) {
      step[key] = this.value(value);
    }
    if (step.raises === undefined) return this[step.do](step);
    let error;
    try {
      await this[step.do](step);
    } catch (thrown) {
      error = thrown;
    }
    const wanted = errorClass(step.raises);
    ok(error?.constructor === wanted, `${error?.stack} is no ${step.raises}`);
    equal(error.name, wanted.name, "name");
    ok(error.message.length > 0, "an error without a message");
    for (const part of [step.says ?? "", camel(step.names ?? "")]) {
      ok(error.message.includes(part), `${error.message} without ${part}`);
    }
    ok(!/\b(rc|RC)_|->/.test(error.message), `C in ${error.message}`);
    if (step.reason) equal(error.report.reason, step.reason);
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
    const found = { text, reasoning, calls };
    for (const [name, expected] of Object.entries(step.expect)) {
      equal(found[name], expected, name);
    }
    equal(report.reason, step.reason);
  }

  checkText(step, text) {
    ok(text.length > 0, "no text");
    if (step.expect !== undefined) equal(text, step.expect);
    ok((step.expect_start_of ?? text).startsWith(text), text);
  }

  // The steps.

  async load(step) {
    const { Backend, Model } = runcible;
    const backend = await Backend.open(
      step.backend,
      optionsOf(step.backend_options),
    );
    this.objects[step.as] = await Model.load(
      hub[step.hub] ?? paths[step.path] ?? step.path ?? "builtin:fable",
      { backend },
    );
  }

  near(row, expected) {
    expected.forEach((number, i) =>
      ok(Math.abs(row[i] - number) < 2e-3, `${row[i]} for ${number}`),
    );
  }

  async embed(step) {
    const rows = await this.objects[step.model].embed(step.texts);
    equal(rows.length, step.expect.length);
    rows.forEach((row, i) => this.near(row, step.expect[i]));
  }

  async rerank(step) {
    const scores = await this.objects[step.model].rerank(
      step.query,
      step.documents,
    );
    equal(scores.length, step.expect.length);
    this.near(scores, step.expect);
  }

  async report(step) {
    const report = await this.objects[step.model].report();
    for (const [name, expected] of Object.entries(step.expect)) {
      equal(report[camel(name)], expected, name);
    }
  }

  async tokenize(step) {
    const model = this.objects[step.model];
    equal([...(await model.tokenize(step.text, { addSpecial: false }))], step.expect);
  }

  async detokenize(step) {
    equal(await this.objects[step.model].detokenize(step.tokens), step.expect);
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
    equal(report.reason, step.reason);
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
    ok(pieces.length >= (step.pieces ?? 0), `${pieces.length} pieces`);
    equal(stream.report.reason, step.reason);
  }

  async together(step) {
    await Promise.all(step.steps.map((each) => this.step(each)));
  }

  async tokens(step) {
    // The end token ends a text and is no part of the session.
    const tokens = [...(await this.objects[step.session].tokens())];
    equal(tokens, step.expect.slice(0, tokens.length));
    ok(tokens.length >= step.expect.length - 1, `${tokens.length} tokens`);
  }

  async append(step) {
    await this.objects[step.session].append(step.text ?? step.tokens);
  }

  statuses(step) {
    const { errors } = runcible;
    for (const [name, number] of Object.entries(step.expect)) {
      equal(errorClass(name).status, number);
      const error = errors.ofStatus(number, "a message");
      ok(error.constructor === errorClass(name), name);
      ok(/^(E[A-Z]+|(ERR|ABORT)_[A-Z_]+)$/.test(error.code), error.code);
      equal(error.message, "a message");
    }
  }

  file(step) {
    this.objects[step.as] = new File([step.text], step.as);
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
    equal(stream.report.reason, "cancelled");
  }

  close(step) {
    this.objects[step.object].close();
  }

  async save(step) {
    this.objects[step.as] = await this.objects[step.session].saveBytes();
  }

  async restore(step) {
    const model = this.objects[step.model];
    this.objects[step.as] = await runcible.Session.restore(
      model,
      // Bytes, or a file that is none of a session.
      this.objects[step.saved] instanceof File
        ? new Uint8Array(await this.objects[step.saved].arrayBuffer())
        : this.objects[step.saved],
    );
  }

  async fork(step) {
    this.objects[step.as] = await this.objects[step.session].fork();
  }

  async grammar(step) {
    this.objects[step.as] = await runcible.Grammar[kinds[step.kind] ?? step.kind](
      this.objects[step.model],
      step.schema ?? step.choices ?? step.text,
      step.options && optionsOf(step.options),
    );
  }

  async chat(step) {
    const session = this.objects[step.session];
    this.objects[step.as] = session.chat(optionsOf(step.options));
    // What is wrong with the options is told by the first call.
    await this.objects[step.as].messages();
  }

  async add(step) {
    await this.objects[step.chat].add(step.messages);
  }

  async undo(step) {
    await this.objects[step.chat].undo(step.count);
  }

  async messages(step) {
    equal(await this.objects[step.chat].messages(), step.expect);
  }

  async fork_chat(step) {
    this.objects[step.as] = await this.objects[step.chat].fork();
  }

  async answer(step) {
    const { Reasoning, ToolCall } = runcible;
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

  async open_later(step) {
    const told = [];
    const backend = await runcible.Backend.open(step.spec, {
      progress: (done) => told.push(done),
    });
    equal(told.at(-1), 1, "progress");
    const { id } = await backend.device();
    equal(id, step.expect);
    backend.close();
  }

  async discover_later(step) {
    const { devices } = await runcible.discover();
    ok(devices.some(({ id }) => id === step.expect), `no ${step.expect}`);
  }

  async logits(step) {
    const logits = await this.objects[step.session].logits();
    ok(logits.data instanceof Float32Array, "no Float32Array");
    equal([logits.rows, logits.vocabulary], [step.rows, step.vocabulary]);
    const row = logits.row(step.row);
    equal(row.indexOf(Math.max(...row)), step.largest);
    const sum = row.reduce((total, logit) => total + logit, 0);
    const difference = Math.abs(sum - step.sum);
    ok(difference <= step.tolerance * Math.abs(step.sum), `sum ${sum}`);
  }
}

/** Steps of tensors, which a page has not. */
const beyond = new Set(["tensor", "matmul", "quantize", "read"]);

/** Runs a case by its number; undefined, or what went wrong. */
export async function run(number) {
  const document = await (await fetch("/conformance/cases.json")).json();
  const golden = await (await fetch("/golden/fable/fable.json")).json();
  try {
    const runner = new Runner(golden);
    for (const step of document.cases[number].steps) {
      if (!beyond.has(step.do)) await runner.step(step);
    }
    return undefined;
  } catch (error) {
    return `${error.name}: ${error.message}\n${error.stack}`;
  }
}
