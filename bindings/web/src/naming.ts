/** Names of errors, and of options in their messages. */
import { optionNames, statusNames } from "./members.js";

/** Members of errors that only this package has: none. */
export interface OwnMembers {}

export const ownMembers = (_: number): object => ({});

/** The name of a status, such as "NOT_FOUND". */
export const statusName = (status: number): string =>
  statusNames[status] ?? "UNKNOWN";

/** The code of a system error, which a page does not have. */
export const systemCode = (_: number): string | undefined => undefined;

/** Returns the name of a class, also if a bundler renames it. */
export function nameOf({ status }: { readonly status: number }): string {
  const name = statusNames[status];
  if (name === undefined) return "RuncibleError";
  if (name === "IO") return "FileError";
  const words = name.toLowerCase().split("_");
  return words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join("") + "Error";
}

/** Text and tokens are one argument in this package, as are biases and their tokens. */
const together: Readonly<Record<string, string>> = {
  logit_bias_tokens: "logit_bias",
  prompt_tokens: "prompt",
};

/**
 * Returns a message of the library, which names options as C does, "options->top_k",
 * with the names of this package.
 */
export function ownWords(message: string): string {
  const camel = (name: string) =>
    (together[name] ?? name).replace(/_(.)/g, (_, letter: string) =>
      letter.toUpperCase(),
    );
  return message
    .replace(/^\w+(?=\.\w)/, (name) =>
      name.includes("_") && optionNames.has(name) ? camel(name) : name,
    )
    .replace(/\boptions->(\w+)/g, (_, name: string) => camel(name))
    .replace(
      /(^|[^\w./"'>-])(\w+)(?![\w"'/]|\.\w)/g,
      (whole, before: string, name: string, at: number) => {
        const meant = name.includes("_") || (at === 0 && before === "");
        return meant && optionNames.has(name) ? before + camel(name) : whole;
      },
    );
}
