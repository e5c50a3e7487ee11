/** Conversations with models, by their chat templates. */
import { AnswerStream, type ChatOptions, type Message, type Reply } from "./answers";
import type { StreamOptions } from "./generating";
import { makeOptions } from "./generation";
import { Handle, optionsOf, type Proxy } from "./handle";
import { jsonText, written } from "./json";
import { posting } from "./mailbox";
import { native } from "./native";

/** Returns the library's options. */
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
 * An answer of the model becomes one of the messages. Each answer evaluates only what
 * the session does not contain yet, also after messages were removed. To keep a
 * conversation, keep its session (Session.save) and its messages.
 */
export class Chat extends Handle {
  /** Ends a generation that was left unfinished, before other use of the session. */
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
   * Adds a message, or several; a text is a message of the user.
   *
   * InvalidArgumentError, UnsupportedError: a message is malformed; the error states
   * its position, and nothing was added. BusyError: an answer is in flight.
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

  /** All messages. BusyError: an answer is in flight. */
  messages(): Message[] {
    const json: Uint8Array = native.chat_messages(this.#idle());
    return JSON.parse(Buffer.from(json).toString());
  }

  /** @c rc_chat_fork */
  fork(): Chat {
    return new Chat(native.chat_fork(this.#idle()), () => {});
  }

  /**
   * Lets the model answer, on the event loop; for `for await`. A thread of the library
   * makes the prompt; an error of its template is an error of the stream.
   */
  answer(options?: StreamOptions): AnswerStream {
    const made = makeOptions(undefined, options);
    const handle = this.#idle();
    return new AnswerStream(
      posting((key) => native.mailbox_answer(handle, made, key)),
      options?.signal,
    );
  }

  /** Adds messages, if any, and returns the complete answer. */
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
