// Runs the steps of the cases in JavaScript; Node and pages add the steps that they
// implement differently. See README.md.

export const camel = (name) =>
  name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());

/** Converts options to those of the packages: other names, and milliseconds. */
export function optionsOf(given = {}) {
  const { deadline, logit_bias: biases, ...others } = given;
  const options = Object.fromEntries(
    Object.entries(others).map(([name, value]) => [camel(name), value]),
  );
  if (deadline !== undefined) options.deadline = typeof deadline === "number" ? deadline * 1000 : deadline;
  if (biases !== undefined) {
    const numbers = biases.map(([token, bias]) => [token, bias ?? -Infinity]);
    options.logitBias = new Map(numbers);
  }
  return options;
}

export class Runner {
  /** `same` throws unless two values are deeply equal. */
  constructor(runcible, golden, same) {
    Object.assign(this, { runcible, golden, same, objects: {} });
  }

  ok(fact, what) {
    if (!fact) throw new Error(`not so: ${what}`);
  }

  /** Returns the exception of a status; "IO" is that of RC_E_IO. */
  errorClass(name) {
    if (name === "TYPE" || name === "VALUE") return name === "TYPE" ? TypeError : RangeError;
    const parts = name.split("_").map((word) => word[0] + word.slice(1).toLowerCase());
    const found = this.runcible.errors[name === "IO" ? "FileError" : parts.join("") + "Error"];
    this.ok(new found("") instanceof this.runcible.RuncibleError, name);
    return found;
  }

  /** Returns a value of a step: "$name" is an object. */
  async value(given) {
    if (typeof given === "string" && given.startsWith("$")) {
      const [kind, ...rest] = given.slice(1).split("/");
      if (kind === "golden") return rest.reduce((found, key) => found[key], this.golden);
      if (kind === "path") return this.path(rest[0]);
      if (kind === "backend") return this.runcible.Backend.open(rest[0]);
      let found = this.objects[kind];
      for (const name of rest) found = await this.member(found, name);
      return found;
    }
    if (Array.isArray(given)) return Promise.all(given.map((each) => this.value(each)));
    if (given?.constructor !== Object) return given;
    const members = Object.entries(given).map(async ([name, each]) => [name, await this.value(each)]);
    return Object.fromEntries(await Promise.all(members));
  }

  async step(step) {
    if (step.except?.includes("Node")) return undefined;
    if (step.raises === undefined) return this.run(step);
    let error;
    try {
      await this.run(step);
    } catch (thrown) {
      error = thrown;
    }
    const wanted = this.errorClass(step.raises);
    const said = `${error?.stack} in ${JSON.stringify(step)}`;
    this.ok(error?.constructor === wanted, said);
    if (wanted === TypeError || wanted === RangeError) return undefined;
    this.same(error.name, wanted.name);
    this.ok(error.message.length > 0, said);
    this.ok(error.message.includes(step.says ?? ""), said);
    this.ok(error.message.startsWith(camel(step.names ?? "")), said);
    this.ok(!/\b(rc|RC)_|->/.test(error.message), said);
    if ("retries" in step) this.same(error.retryAfter !== undefined, step.retries);
    if (step.reason) this.same(error.report.reason, step.reason);
  }

  async run(step) {
    const found = await this.call(
      step,
      await this.value(step.with ?? []),
      await this.value(step.options),
    );
    if (Array.isArray(step.as)) {
      this.same(found.length, step.as.length);
      step.as.forEach((name, i) => (this.objects[name] = found[i]));
    } else if (step.as !== undefined) {
      this.objects[step.as] = found;
    }
    if ("expect" in step) await this.check(found, await this.value(step.expect), step.do);
  }

  /** Calls what a step names, of an object, a class or the package. */
  call(step, given, options) {
    const [on, method] = step.do.split(".");
    const target = this.runcible[on] ?? this.objects[on];
    const own = this[`do_${on}_${method}`] ?? this[`do_${method ?? on}`];
    if (own !== undefined) return own.call(this, target, given, options, step);
    const all = options === undefined ? given : [...given, optionsOf(options)];
    if (method === undefined) return typeof target === "function" ? target(...all) : target;
    const member = target[camel(method)];
    return typeof member === "function" ? member.apply(target, all) : member;
  }

  /** Checks what was found against the expected part of it. */
  async check(found, expected, what) {
    if (Array.isArray(expected)) {
      this.same(found.length, expected.length, what);
      for (const [i, each] of expected.entries()) await this.check(found[i], each, `${what}[${i}]`);
    } else if (expected?.constructor === Object) {
      for (const [name, wanted] of Object.entries(expected)) {
        if (name === "$by") continue;
        if (name.startsWith("$")) await this.compare(name, found, wanted, expected, what);
        else await this.check(await this.member(found, name), wanted, `${what}.${name}`);
      }
    } else {
      this.same(typeof found === "bigint" ? Number(found) : found, expected, what);
    }
  }

  async member(found, name) {
    if (name === "numbers") return [...found.toArray()];
    const member = found[name] ?? found[camel(name)];
    return typeof member === "function" ? member.call(found) : member;
  }

  async compare(name, found, wanted, { $by: by }, what) {
    const near = (a, b) => this.ok(Math.abs(a - b) <= by, `${what}: ${a} near ${b}`);
    const passes = async (each) =>
      this.check(each, wanted, what).then(() => true, () => false);
    switch (name) {
      case "$same":
        return this.same(JSON.parse(JSON.stringify(found)), wanted, what);
      case "$not":
        return this.ok(found !== wanted, `${what}: not ${wanted}`);
      case "$near":
        if (!Array.isArray(wanted)) return near(found, wanted);
        return wanted.forEach((each, i) => near(found[i], each));
      case "$least":
        return this.ok(found >= wanted, `${what}: ${found} >= ${wanted}`);
      case "$most":
        return this.ok(found <= wanted, `${what}: ${found} <= ${wanted}`);
      case "$count":
        return this.check(found.length, wanted, `${what}.length`);
      case "$some":
        for (const each of found) if (await passes(each)) return undefined;
        return this.ok(false, `${what} with ${JSON.stringify(wanted)}`);
      case "$all":
        for (const each of found) await this.check(each, wanted, what);
        return undefined;
      case "$any":
        for (const each of wanted) if (await this.check(found, each).then(() => true, () => false)) return undefined;
        return this.ok(false, `${what}: any of ${JSON.stringify(wanted)}`);
      case "$start_of":
        return this.ok(found !== "" && wanted.startsWith(found), `${what}: ${found}`);
      case "$but_last":
        this.same([...found], wanted.slice(0, found.length), what);
        return this.ok(found.length >= wanted.length - 1, `${what}: ${found}`);
      default:
        throw new Error(`there is no comparison ${name}`);
    }
  }

  // Steps that are not a single call, or a different one in JavaScript.

  do_Model_load(Model, [path, backend], options) {
    return Model.load(path, { backend, ...optionsOf(options) });
  }

  do_Tenant_create(Tenant, given, options) {
    return new Tenant(optionsOf(options));
  }

  do_Model_from_hub(Model, [source, backend]) {
    return Model.fromHub(source, { backend });
  }

  do_generate(session, [prompt], options) {
    return session.generate(prompt, optionsOf(options));
  }

  async do_stream(session, [prompt], options, step) {
    const stream = session.stream(prompt, optionsOf(options));
    const pieces = [];
    for await (const piece of stream) {
      pieces.push(piece);
      if (pieces.length === step.cancel_after) stream.cancel();
    }
    const text = pieces.map((piece) => piece.text).join("");
    return { text, pieces, report: stream.report };
  }

  do_restore_bytes(Session, given) {
    return Session.restore(...given);
  }

  do_start(session, [prompt], options) {
    return session.stream(prompt, optionsOf(options));
  }

  async do_text(stream) {
    if (Symbol.iterator in stream) return [...stream].join("");
    return (await stream.whole()).text;
  }

  do_close_all(_, names) {
    for (const object of names.map((name) => this.objects[name])) (object.close ?? object.return).call(object);
  }

  async do_finish(stream) {
    await stream.return();
    return stream;
  }

  async do_together(_, given, options, step) {
    await Promise.all(step.steps.map((each) => this.step(each)));
  }

  do_statuses(_, [numbers]) {
    for (const [name, number] of Object.entries(numbers)) {
      const kind = this.errorClass(name);
      const error = this.runcible.errors.ofStatus(number, "a message");
      this.same([kind.status, error.message], [number, "a message"]);
      this.ok(error.constructor === kind, name);
      this.ok(/^(E[A-Z]+|(ERR|ABORT)_[A-Z_]+)$/.test(error.code), error.code);
    }
  }

  async do_answer(chat, given, options) {
    const { Reasoning, ToolCall } = this.runcible;
    const stream = chat.answer(optionsOf(options));
    const reply = { text: "", reasoning: "", toolCalls: [] };
    for await (const part of stream) {
      if (part instanceof ToolCall) reply.toolCalls.push(part);
      else if (part instanceof Reasoning) reply.reasoning += part;
      else reply.text += part;
    }
    return { ...reply, report: stream.report };
  }

  async do_logits(session, [number]) {
    const logits = await session.logits();
    this.ok(logits.data instanceof Float32Array, "Float32Array");
    const row = logits.row(number);
    const largest = row.indexOf(Math.max(...row));
    const sum = row.reduce((total, logit) => total + logit, 0);
    return { rows: logits.rows, vocabulary: logits.vocabulary, largest, sum };
  }

  async do_open_later(Backend, [spec], options) {
    const fractions = [];
    const progress = (done) => fractions.push(done);
    const backend = await Backend.open(spec, { progress, ...optionsOf(options) });
    this.same(fractions.at(-1), 1);
    return backend;
  }

  do_discover_later() {
    return this.runcible.discover();
  }
}
