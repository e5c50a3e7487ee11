/**
 * Runcible: language models in your program, on its event loop.
 *
 * Calls that may wait return promises, unless their names end in Sync. Failures
 * throw the classes of `errors`, all of them RuncibleError. Every worker thread
 * may use the package, with separate objects.
 */
import { native } from "./native";

export * as errors from "./errors";
export { RuncibleError } from "./errors";
export { Backend, discover, type BackendOptions, type SwitchOptions } from "./backend";
export { AnswerStream, type ChatOptions, type Message, type Reply } from "./answers";
export { Chat } from "./chat";
export type { Dtype } from "./dtypes";
export { Generation, Piece, Reasoning, type Part } from "./generation";
export {
  ToolCall,
  type GenerateOptions,
  type Generated,
  type Logprob,
  type Prompt,
  type StreamOptions,
} from "./generating";
export { Graph, type RunOptions } from "./graph";
export { Grammar, type GrammarOptions } from "./grammar";
export type { JsonOption, Schema } from "./json";
export type { Handle, Path } from "./handle";
export type { EmbedOptions, RerankOptions } from "./rows";
export {
  cachedModels,
  fetchModel,
  removeCachedModel,
  type CachedModels,
  type FetchOptions,
} from "./hub";
export {
  Model,
  plan,
  verify,
  type LoadOptions,
  type ModelOptions,
} from "./model";
export { CustomOp, type CustomFunction, type CustomOpOptions } from "./custom";
export {
  registerBackend,
  unregisterBackend,
  type Elements,
  type OpBackend,
  type OpCall,
  type OpFunction,
  type Operand,
  type Parameters,
} from "./ops";
export { Pinned } from "./pinned";
export type * from "./reports";
export type { Logits } from "./logits";
export { Session, type SessionOptions } from "./session";
export { Stream } from "./streaming";
export {
  Tensor,
  type FusedFunction,
  type Numbers,
  type TensorOptions,
} from "./tensor";
export { Tenant, metrics, openMetrics, type TenantOptions } from "./tenant";
export { Tokenizer } from "./tokenizer";
export type { TokenizeOptions, Tokens } from "./tokens";

/** The version of the library. */
export const version: string = native.version_string();
