/** Generations and answers in flight, and their events. */
import { endNumbers, endReasons, layouts } from "../layouts.js";
import { rc } from "../members.js";
import type { EventValues, LogprobsValues, Wanted } from "../protocol.js";
import type { Handles } from "./handles.js";
import type { Library, Scope } from "./library.js";
import { failureOf } from "./status.js";

const camel = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

export class Requests {
  readonly #library: Library;
  readonly #handles: Handles;
  readonly #deliver: (events: readonly EventValues[]) => void;
  readonly #callback: number;
  readonly #requests = new Map<number, number>();
  /** Events that are delivered together, in the next task. */
  #events: EventValues[] = [];
  readonly #task = new MessageChannel();

  constructor(
    library: Library,
    handles: Handles,
    deliver: (events: readonly EventValues[]) => void,
  ) {
    this.#library = library;
    this.#handles = handles;
    this.#deliver = deliver;
    this.#task.port1.onmessage = () => this.#flush();
    this.#callback = library.module.addFunction(
      (user: number, event: number) => {
        // No exception may pass through the library.
        try {
          this.#receive(user, event);
        } catch (error) {
          this.cancel(user);
          this.#fail(user, error);
        }
      },
      "vii",
    );
  }

  /** Starts a request by `name`: rc_generate_async or rc_chat_answer_async. */
  begin(name: string, key: number, of: number, wanted: Wanted): void {
    const library = this.#library;
    try {
      library.scoped((scope) => {
        const options = this.#options(scope, wanted);
        const request = scope.room(4);
        library.check(
          name,
          this.#handles.get(of),
          options,
          0,
          this.#callback,
          key,
          request,
        );
        this.#requests.set(key, library.pointer(request));
      });
    } catch (error) {
      this.#fail(key, error);
    }
  }

  /** Ends a request that did not start, or whose events cannot be delivered. */
  #fail(key: number, error: unknown): void {
    this.#post({
      key,
      kind: "end",
      ...failureOf(error),
      reason: "error",
      seed: 0n,
      numbers: Object.fromEntries(endNumbers.map((each) => [camel(each), 0])),
    });
  }

  cancel(key: number): void {
    const request = this.#requests.get(key);
    if (request !== undefined) this.#library.call("rc_request_cancel", request);
  }

  #options(scope: Scope, wanted: Wanted): number {
    const at = scope.struct("generate_options", wanted.options);
    const { members } = layouts["generate_options"]!;
    const set = (name: string, value: number) =>
      scope.set(at + members[name]![0], members[name]![1], value, name);
    const { prompt, stop, stopTokens, biasTokens, biases, grammar } = wanted;
    if (prompt instanceof Int32Array) {
      set("prompt_tokens", scope.data(prompt));
      set("prompt_token_count", prompt.length);
    } else if (prompt !== undefined) {
      const [text, size] = scope.text(prompt);
      this.#library.view.setUint32(at + members["prompt"]![0], text, true);
      set("prompt_length", size);
    }
    if (stop.length > 0) {
      set("stop", scope.texts(stop, "stop"));
      set("stop_count", stop.length);
    }
    if (stopTokens.length > 0) {
      set("stop_tokens", scope.data(stopTokens));
      set("stop_token_count", stopTokens.length);
    }
    if (biasTokens.length > 0) {
      set("logit_bias_tokens", scope.data(biasTokens));
      set("logit_bias", scope.data(biases));
      set("logit_bias_count", biasTokens.length);
    }
    if (grammar !== undefined) set("grammar", this.#handles.get(grammar));
    return at;
  }

  #receive(key: number, event: number): void {
    const library = this.#library;
    const get = (name: string) => library.member("event", event, name);
    switch (get("type")) {
      case rc.EVENT_END:
        this.#end(key, event);
        break;
      case rc.EVENT_PIECE:
      case rc.EVENT_MALFORMED_CALL:
        this.#piece(key, event, "piece");
        break;
      case rc.EVENT_REASONING:
        this.#piece(key, event, "reasoning");
        break;
      case rc.EVENT_CALL:
        this.#post({
          key,
          kind: "call",
          id: String(get("call_id") ?? ""),
          name: String(get("call_name") ?? ""),
          json: this.#text(event),
        });
        break;
    }
  }

  #text(event: number): string {
    const library = this.#library;
    const at = library.pointer(event + layouts["event"]!.members["text"]![0]);
    return library.text(at, Number(library.member("event", event, "text_length")));
  }

  #piece(key: number, event: number, kind: "piece" | "reasoning"): void {
    const library = this.#library;
    const get = (name: string) => Number(library.member("event", event, name));
    const count = get("token_count");
    let logprobs: LogprobsValues | undefined;
    if (get("logprobs") !== 0) {
      const tops = count * get("top_count");
      logprobs = {
        logprobs: library.floats(get("logprobs"), count),
        topTokens: library.int32s(get("top_tokens"), tops),
        topLogprobs: library.floats(get("top_logprobs"), tops),
      };
    }
    this.#post({
      key,
      kind,
      text: this.#text(event),
      tokens: library.int32s(get("tokens"), count),
      logprobs,
    });
  }

  #end(key: number, event: number): void {
    const library = this.#library;
    const report = Number(library.member("event", event, "report"));
    const get = (name: string) =>
      library.member("generate_report", report, name)!;
    this.#post({
      key,
      kind: "end",
      status: Number(get("status")),
      message: String(library.member("event", event, "message") ?? ""),
      reason: endReasons[Number(get("reason"))] ?? "error",
      seed: BigInt(get("seed")),
      numbers: Object.fromEntries(
        endNumbers.map((each) => [camel(each), Number(get(each))]),
      ),
    });
    const request = this.#requests.get(key);
    this.#requests.delete(key);
    if (request !== undefined) library.call("rc_request_release", request);
  }

  #post(event: EventValues): void {
    if (this.#events.length === 0) this.#task.port2.postMessage(0);
    this.#events.push(event);
  }

  #flush(): void {
    const events = this.#events;
    this.#events = [];
    this.#deliver(events);
  }
}
