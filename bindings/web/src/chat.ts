/** Conversations with models, by their chat templates. */
import { AnswerStream, type ChatOptions, type Message, type Reply } from "./answers.js";
import type { Engine } from "./engine.js";
import type { StreamOptions } from "./generating.js";
import { posting, wantedOf } from "./generation.js";
import { Handle, named, optionsOf } from "./handle.js";
import { jsonText, written } from "./json.js";
import type { Entry } from "./protocol.js";
import type { Session } from "./session.js";

const json = ["tools", "templateArguments"];

function chatOptions(given: ChatOptions = {}): Entry[] {
  const options = optionsOf("chat_options", given, json);
  const { tools, templateArguments } = given;
  if (tools !== undefined) options.push(["tools", jsonText(tools, "tools")]);
  if (templateArguments !== undefined) {
    const text = jsonText(templateArguments, "templateArguments");
    options.push(["template_arguments", text]);
  }
  return options;
}

/**
 * A conversation: a list of messages over a session; see Session.chat.
 *
 * An answer of the model becomes one of the messages. Each answer evaluates only what
 * the session does not contain yet, also after messages were removed. To keep a
 * conversation, keep its session (Session.saveBytes) and its messages.
 */
export class Chat extends Handle {
  /** The session of the conversation, which keeps it. */
  readonly #session: Session | undefined;

  private constructor(engine: Engine, id: number, session?: Session) {
    super(engine, id);
    this.#session = session;
  }

  /** @internal */
  static _begin(session: Session, options: ChatOptions | undefined): Chat {
    const id = session._engine.newHandle();
    session._engine.post("chat", session._id, id, chatOptions(options));
    return new Chat(session._engine, id, session);
  }

  // :api: release rc_chat

  /** The session; undefined for a fork, which has a session of the library. */
  get session(): Session | undefined {
    return this.#session;
  }

  /**
   * Adds a message, or several; a text is a message of the user.
   *
   * InvalidArgumentError, UnsupportedError: a message is malformed; the error states
   * its position, and nothing was added. BusyError: an answer is in flight.
   */
  add(messages: string | Message | readonly Message[]): Promise<void> {
    const given =
      typeof messages === "string"
        ? { role: "user", content: messages }
        : messages;
    return this._ask("chatAdd", written(given, "messages"));
  }

  /** @c rc_chat_undo */
  undo(count = 1): Promise<void> {
    return this._ask("chatUndo", count);
  }

  /** All messages. BusyError: an answer is in flight. */
  messages(): Promise<Message[]> {
    return this._ask("chatMessages");
  }

  /** @c rc_chat_fork */
  async fork(): Promise<Chat> {
    const id = this._engine.newHandle();
    await this._ask("child", "rc_chat_fork", id);
    return new Chat(this._engine, id);
  }

  /** Lets the model answer; for `for await`. */
  answer(options?: StreamOptions): AnswerStream {
    const wanted = wantedOf(undefined, options);
    return new AnswerStream(
      posting(this._engine, "answer", this._id, wanted),
      options?.signal,
    );
  }

  /** Adds messages, if any, and returns the complete answer. */
  async ask(
    messages?: string | Message | readonly Message[],
    options?: StreamOptions,
  ): Promise<Reply> {
    if (messages !== undefined) await this.add(messages);
    return this.answer(options).reply();
  }
}
named(Chat, "Chat");
