/** Conversations with models, as their makers meant them. */
import type { Engine } from "./engine.js";
import {
  Reasoning,
  ToolCall,
  wantedOf,
  type Part,
  type StreamOptions,
} from "./generation.js";
import { Handle, named, optionsOf } from "./handle.js";
import { jsonText, written } from "./json.js";
import type { Entry, Wanted } from "./protocol.js";
import type { Report } from "./reports.js";
import type { Session } from "./session.js";
import { AsyncReading } from "./streaming.js";

/** A message in the shape of "messages" of OpenAI's chat completions. */
export interface Message {
  readonly role: string;
  readonly [member: string]: unknown;
}

export interface ChatOptions {
  /**
   * The functions that the model may call, in the shape of "tools" of OpenAI's
   * chat completions, also as JSON.
   */
  tools?: readonly object[] | string | undefined;
  /**
   * The name of a chat template: of a variant in the file, or of one that is
   * well known, for files that have none ("chatml", "llama3", "zephyr", ...).
   */
  templateName?: string | undefined;
  /** The source of a chat template instead. */
  templateText?: string | undefined;
  /** More variables for the template, also as JSON. */
  templateArguments?: Readonly<Record<string, unknown>> | string | undefined;
  /**
   * For models that can do both: whether to think before they answer;
   * undefined: whatever the template does by itself.
   */
  thinking?: boolean | undefined;
  /** @c rc_chat_options.now */
  now?: string | undefined;
}

/** A whole answer. */
export interface Reply {
  readonly text: string;
  /** What the model thought. */
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  /** How it ended: its `reason` is "tool calls" after some. */
  readonly report: Report;
}

/**
 * The parts of an answer as they come: pieces of text, Reasoning, and whole calls
 * of tools.
 *
 * It ends as a Stream does, and is left as one. Whatever came of it is a message
 * of the conversation then.
 */
export class AnswerStream extends AsyncReading<Part> {
  /** @internal */
  constructor(
    engine: Engine,
    chat: number,
    wanted: Wanted,
    signal?: AbortSignal,
  ) {
    super(engine, "answer", chat, wanted, signal);
  }

  /** Reads to the end. */
  async reply(): Promise<Reply> {
    let text = "";
    let reasoning = "";
    const toolCalls: ToolCall[] = [];
    for await (const part of this) {
      if (part instanceof ToolCall) toolCalls.push(part);
      else if (part instanceof Reasoning) reasoning += part.text;
      else text += part.text;
    }
    return { text, reasoning, toolCalls, report: this.report! };
  }
}

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
 * An answer of the model becomes one of the messages. For each answer only what
 * the session does not hold yet is evaluated, also after messages were
 * forgotten. To keep a conversation, keep its session (Session.saveBytes) and its
 * messages.
 */
export class Chat extends Handle {
  /** The session that it is over, which it keeps. */
  readonly #session: Session | undefined;

  private constructor(engine: Engine, id: number, session?: Session) {
    super(engine, id);
    this.#session = session;
  }

  /** @internal */
  static _begin(session: Session, options: ChatOptions | undefined): Chat {
    const id = session._engine.newHandle();
    session._engine.tell("chat", session._id, id, chatOptions(options));
    return new Chat(session._engine, id, session);
  }

  // :api: release rc_chat

  /** The session, but of a fork, whose session is its own. */
  get session(): Session | undefined {
    return this.#session;
  }

  /**
   * Adds a message, or several; a text is what the user says.
   *
   * InvalidArgumentError, UnsupportedError: a message that is malformed, by its
   * place; nothing was added then. BusyError: an answer is under way.
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

  /** All messages. BusyError: an answer is under way. */
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
    return new AnswerStream(this._engine, this._id, wanted, options?.signal);
  }

  /** Adds messages, if any, and gives the whole answer. */
  async ask(
    messages?: string | Message | readonly Message[],
    options?: StreamOptions,
  ): Promise<Reply> {
    if (messages !== undefined) await this.add(messages);
    return this.answer(options).reply();
  }
}
named(Chat, "Chat");
