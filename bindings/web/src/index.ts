/**
 * Runcible: language models in a page.
 *
 * The library runs in a worker, which the first call starts, so the page stays
 * responsive. Failures throw the classes of `errors`, all of them RuncibleError.
 */
export * as errors from "./errors.js";
export { RuncibleError } from "./errors.js";
export { Backend, discover, type BackendOptions } from "./backend.js";
export {
  cachedModels,
  removeCachedModel,
  type CachedModel,
} from "./cache.js";
export { AnswerStream, type ChatOptions, type Message, type Reply } from "./answers.js";
export { Chat } from "./chat.js";
export type { Dtype } from "./dtypes.js";
export type { EmbedOptions, RerankOptions } from "./rows.js";
export { start, terminate, type StartOptions } from "./engine.js";
export { Piece, Reasoning, type Part } from "./generation.js";
export {
  ToolCall,
  type GenerateOptions,
  type Generated,
  type Logprob,
  type Prompt,
  type StreamOptions,
} from "./generating.js";
export { Grammar, type GrammarOptions } from "./grammar.js";
export type { JsonOption, Schema } from "./json.js";
export type { Handle } from "./handle.js";
export { Model, type LoadOptions, type ModelOptions } from "./model.js";
export type { ProgressOptions } from "./progress.js";
export type { Progress } from "./protocol.js";
export type * from "./reports.js";
export type { Logits } from "./logits.js";
export { Session, type SessionOptions } from "./session.js";
export type { ModelSource, SourceOptions } from "./source.js";
export { Stream } from "./streaming.js";
export { support, type Support } from "./support.js";
export { Tokenizer } from "./tokenizer.js";
export type { TokenizeOptions, Tokens } from "./tokens.js";
