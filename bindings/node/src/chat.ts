/** Conversations with models, as their makers meant them. */
import {
  Reasoning,
  ToolCall,
  makeOptions,
  type Part,
  type StreamOptions,
} from "./generation";
import { Handle, optionsOf, type Proxy } from "./handle";
import { jsonText, written } from "./json";
import { native } from "./native";
import type { Report } from "./reports";
import { AsyncReading } from "./streaming";

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
 * The parts of an answer as they come, on Node's event loop: pieces of text,
 * Reasoning, and whole calls of tools.
 *
 * It ends as a Stream does, and is left as one. Whatever came of it is a message
 * of the conversation then.
 */
export class AnswerStream extends AsyncReading<Part> {
  /** @internal */
  constructor(chat: Proxy, options: Proxy, signal?: AbortSignal) {
    super((key) => native.mailbox_answer(chat, options, key), signal);
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

/** The library's own options. */
function chatOptions(given: ChatOptions | undefined): Proxy {
  return optionsOf("chat_options", given, {
    tools: (tools, options) => options.set_tools(jsonText(tools, "tools")),
    templateName: (name, options) => options.set_template_name(name),
    templateText: (text, options) => options.set_template_text(text),
    templateArguments: (values, options) =>
      options.set_template_arguments(jsonText(values, "templateArguments")),
    now: (now, options) => options.set_now(now),
  });
}

/**
 * A conversation: a list of messages over a session; see Session.chat.
 *
 * An answer of the model becomes one of the messages. For each answer only what
 * the session does not hold yet is evaluated, also after messages were
 * forgotten. To keep a conversation, keep its session (Session.save) and its
 * messages.
 */
export class Chat extends Handle {
  /** Ends what was left of the session by who wants something else of it. */
  readonly #leave: () => void;

  private constructor(proxy: Proxy, leave: () => void) {
    super(proxy);
    this.#leave = leave;
  }

  /** @internal */
  static _begin(
    session: Proxy,
    options: ChatOptions | undefined,
    leave: () => void,
  ): Chat {
    return new Chat(native.chat_create(session, chatOptions(options)), leave);
  }

  // :api: release rc_chat

  /**
   * Adds a message, or several; a text is what the user says.
   *
   * InvalidArgumentError, UnsupportedError: a message that is malformed, by its
   * place; nothing was added then. BusyError: an answer is under way.
   */
  add(messages: string | Message | readonly Message[]): void {
    const given =
      typeof messages === "string"
        ? { role: "user", content: messages }
        : messages;
    native.chat_add(this.#idle(), written(given, "messages"));
  }

  /** @c rc_chat_undo */
  undo(count = 1): void {
    native.chat_undo(this.#idle(), count);
  }

  /** All messages. BusyError: an answer is under way. */
  messages(): Message[] {
    const json: Uint8Array = native.chat_messages(this.#idle());
    return JSON.parse(Buffer.from(json).toString());
  }

  /** @c rc_chat_fork */
  fork(): Chat {
    return new Chat(native.chat_fork(this.#idle()), () => {});
  }

  /**
   * Lets the model answer, on the event loop; for `for await`. The prompt is
   * made on a thread of the library; what its template refuses is an error of
   * the stream.
   */
  answer(options?: StreamOptions): AnswerStream {
    const made = makeOptions(undefined, options);
    return new AnswerStream(this.#idle(), made, options?.signal);
  }

  /** Adds messages, if any, and gives the whole answer. */
  async ask(
    messages?: string | Message | readonly Message[],
    options?: StreamOptions,
  ): Promise<Reply> {
    if (messages !== undefined) this.add(messages);
    return this.answer(options).reply();
  }

  #idle(): Proxy {
    const handle = this._handle;
    this.#leave();
    return handle;
  }
}
