/** Compiling grammars. */
import type { GrammarOptions } from "./grammar.js";
import { Handle, className, optionsOf, shown, type Owned } from "./handle.js";
import type { Model } from "./model.js";
import type { Tokenizer } from "./tokenizer.js";

async function made(
  of: Tokenizer | Model,
  name: string,
  ...args: readonly unknown[]
): Promise<Owned> {
  const given: unknown = of;
  const known =
    given instanceof Handle && ["Tokenizer", "Model"].includes(className(given));
  if (!known) {
    throw new TypeError(
      `tokenizer must be a Tokenizer or a Model, not ${shown(given)}`,
    );
  }
  const tokenizer = "tokenizer" in of ? of.tokenizer : of;
  const id = of._engine.newHandle();
  await tokenizer._ask(name, id, ...args);
  return [of._engine, id];
}

export async function compiled(
  tokenizer: Tokenizer | Model,
  kind: number,
  text: string,
  options: GrammarOptions | undefined,
): Promise<Owned> {
  return made(tokenizer, "grammar", kind, text, optionsOf("grammar_options", options));
}

export async function compiledChoices(
  tokenizer: Tokenizer | Model,
  choices: readonly string[],
): Promise<Owned> {
  return made(tokenizer, "choices", [...choices]);
}
