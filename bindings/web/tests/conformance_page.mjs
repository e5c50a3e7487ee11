// Runs the cases of bindings/conformance/cases.json in a page.
import { Runner, optionsOf } from "/conformance/javascript.mjs";

/** JSON with members ordered by name. */
const sorted = (_, value) =>
  value?.constructor === Object
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

function same(found, wanted, what = "") {
  const [a, b] = [found, wanted].map((value) => JSON.stringify(value, sorted));
  if (a !== b) throw new Error(`${what} ${a} instead of ${b}`);
}

/** Models that the other languages load from the hub, by URL. */
const hub = {
  "o/e": "/converted/bert-mean.gguf",
  "o/c": "/converted/bert-cross.gguf",
};

class PageRunner extends Runner {
  constructor(golden) {
    super(runcible, golden, same);
  }

  /** A page has no files; they are kept among the objects. */
  path(name) {
    return name;
  }

  do_file(_, [name, text]) {
    this.objects[name] = new File([text], name);
  }

  async do_save(session, [name]) {
    this.objects[name] = await session.saveBytes();
  }

  async do_restore(Session, [model, name]) {
    const saved = this.objects[name];
    const bytes = saved instanceof File ? new Uint8Array(await saved.arrayBuffer()) : saved;
    return Session.restore(model, bytes);
  }

  do_Model_load(Model, [path, backend], options) {
    // A source that a page cannot read, where a program cannot read a folder.
    const source = path === "/" ? "http://localhost:1/model.gguf" : (this.objects[path] ?? path);
    return Model.load(source, { backend, ...optionsOf(options) });
  }

  do_Model_from_hub(Model, [source, backend]) {
    return Model.load(hub[source], { backend });
  }

  async do_session(model, given, options) {
    const session = model.session(optionsOf(options));
    // The first call reports errors in the options.
    await session.tokens();
    return session;
  }

  async do_chat(session, given, options) {
    const chat = session.chat(optionsOf(options));
    // The first call reports errors in the options.
    await chat.messages();
    return chat;
  }
}

/** Steps that a page does not support: tensors. */
const beyond = (step) => step.do.startsWith("Tensor.") || step.do.startsWith("x.");

/** Runs a case by its number; returns undefined, or the failure. */
export async function run(number) {
  const document = await (await fetch("/conformance/cases.json")).json();
  const golden = await (await fetch("/golden/fable/fable.json")).json();
  try {
    const runner = new PageRunner(golden);
    for (const step of document.cases[number].steps) {
      if (!beyond(step)) await runner.step(step);
    }
    return undefined;
  } catch (error) {
    return `${error.name}: ${error.message}\n${error.stack}`;
  }
}
