/** Conversations: messages, options and answers. */
import { Reasoning, type Part } from "./generation.js";
import { ToolCall } from "./generating.js";
import type { Report } from "./reports.js";
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
   * The name of a chat template: of a variant in the file, or of a well-known
   * template, for files without one ("chatml", "llama3", "zephyr", ...).
   */
  templateName?: string | undefined;
  /** The source of a chat template instead. */
  templateText?: string | undefined;
  /** More variables for the template, also as JSON. */
  templateArguments?: Readonly<Record<string, unknown>> | string | undefined;
  /**
   * Whether to think before answering, for models that can do both;
   * undefined: the template's default.
   */
  thinking?: boolean | undefined;
  /** @c rc_chat_options.now */
  now?: string | undefined;
}

/** A whole answer. */
export interface Reply {
  readonly text: string;
  /** The model's thoughts. */
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  /** The report; its `reason` is "tool calls" if the model called tools. */
  readonly report: Report;
}

/**
 * The parts of an answer as they arrive: pieces of text, Reasoning, and complete
 * calls of tools.
 *
 * It ends, and is left, like a Stream. The answer so far is then a message of the
 * conversation.
 */
export class AnswerStream extends AsyncReading<Part> {
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
