// A conversation that goes on when the model moves to another backend.
import { Backend, Model, discover } from "./runcible-web/index.js";

/** The template for files that have none: that of the model in the box. */
const NO_TEMPLATE = "chatml";

/**
 * Returns one device of each backend that can compute here, such as "cpu", and
 * the reason why WebGPU cannot, or "" if it can.
 */
export async function backends() {
  const { devices } = await discover();
  const found = devices.filter(({ index }) => index >= 0);
  const missing = devices.find(
    ({ backend, index }) => backend === "webgpu" && index < 0,
  );
  return {
    found: [...new Map(found.map((each) => [each.backend, each])).values()],
    missing: missing?.reason ?? "",
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

  /** Loads a model; if that succeeds, ends the conversation before. */
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

  /** Moves the conversation to another backend. */
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

  /** Returns the parts of the answer to a text. */
  async answer(text, options) {
    await this.#chat.add(text);
    return this.#chat.answer(options);
  }
}
