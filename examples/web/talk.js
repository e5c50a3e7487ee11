// A conversation that goes on when the model is put on another backend.
import { Backend, Model, discover } from "./runcible-web/index.js";

/** Templates for files that have none; the first is the model in the box's own. */
const NO_TEMPLATE = "chatml";

/**
 * What can compute here, "cpu" and its kin, by backends; and why WebGPU cannot:
 * "" if it can.
 */
export async function backends() {
  const { devices } = await discover();
  const found = devices.filter(({ index }) => index >= 0);
  const lacking = devices.find(
    ({ backend, index }) => backend === "webgpu" && index < 0,
  );
  return {
    found: [...new Map(found.map((each) => [each.backend, each])).values()],
    lacking: lacking?.reason ?? "",
  };
}

export class Talk {
  #source;
  #model;
  #session;
  #chat;
  #template;

  get model() {
    return this.#model;
  }

  /** Loads a model; the conversation before is over if that succeeds. */
  async load(source, backend, options = {}) {
    const model = await this.#loaded(source, backend, options);
    const { "tokenizer.chat_template": own } = await model.metadata();
    const before = this.#model;
    this.#chat?.close();
    this.#session?.close();
    this.#template = own === undefined ? NO_TEMPLATE : undefined;
    this.#source = source;
    this.#model = model;
    this.begin();
    before?.close();
    return model.report();
  }

  async #loaded(source, backend, options) {
    const opened = await Backend.open(backend, { signal: options.signal });
    return Model.load(source, { ...options, backend: opened });
  }

  /** Begins a conversation without messages. */
  begin() {
    this.#chat?.close();
    this.#session?.close();
    this.#session = this.#model.session({ whenFull: "shift" });
    this.#chat = this.#session.chat({ templateName: this.#template });
  }

  /** The same conversation, computed by another backend from here on. */
  async move(backend, options = {}) {
    const messages = await this.#chat.messages();
    const model = await this.#loaded(this.#source, backend, options);
    const session = await this.#session.migrate(model);
    const chat = session.chat({ templateName: this.#template });
    if (messages.length > 0) await chat.add(messages);
    this.#chat.close();
    this.#session.close();
    this.#model.close();
    [this.#model, this.#session, this.#chat] = [model, session, chat];
    return model.report();
  }

  /** The parts of the answer to a text. */
  async answer(text, options) {
    await this.#chat.add(text);
    return this.#chat.answer(options);
  }
}
