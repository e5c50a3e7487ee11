/** Compiling grammars. */
import type { GrammarOptions } from "./grammar";
import { ModelHandle, TokenizerHandle, optionsOf, shown, type Owned, type Proxy } from "./handle";
import type { Model } from "./model";
import { native } from "./native";
import type { Tokenizer } from "./tokenizer";

/** Returns the library's tokenizer of a tokenizer or a model. */
function tokenizerOf(tokenizer: Tokenizer | Model): Proxy {
  const given: unknown = tokenizer;
  if (given instanceof TokenizerHandle) return given._handle;
  if (given instanceof ModelHandle) {
    return native.model_get_tokenizer(given._handle);
  }
  throw new TypeError(
    `tokenizer must be a Tokenizer or a Model, not ${shown(given)}`,
  );
}

export async function compiled(
  tokenizer: Tokenizer | Model,
  kind: number,
  text: string,
  options: GrammarOptions | undefined,
): Promise<Owned> {
  const handle = tokenizerOf(tokenizer);
  const made = optionsOf("grammar_options", options);
  return [await native.grammar_create_later(handle, kind, text, made)];
}

export async function compiledChoices(
  tokenizer: Tokenizer | Model,
  choices: readonly string[],
): Promise<Owned> {
  const handle = tokenizerOf(tokenizer);
  const texts = new native.text_list();
  for (const choice of choices) texts.add(choice);
  return [await native.grammar_of_choices_later(handle, texts)];
}
