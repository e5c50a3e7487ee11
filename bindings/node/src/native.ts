/** The module that SWIG makes from the C headers; only this package uses it. */
export const native: any = require("../lib/native.node");

/** Constants that begin with `prefix`, by the rest of their names in lower case. */
export function constants(prefix: string): Map<string, number> {
  const found = new Map<string, number>();
  for (const name of Object.getOwnPropertyNames(native)) {
    if (name.startsWith(prefix)) {
      found.set(name.slice(prefix.length).toLowerCase(), native[name]);
    }
  }
  return found;
}

/** Returns the number of a choice that is given by its name. */
export function chosen(
  choices: Map<string, number>,
  what: string,
  name: unknown,
): number {
  const number = typeof name === "string" ? choices.get(name) : undefined;
  if (number === undefined) {
    throw new TypeError(
      `${what} must be one of ${[...choices.keys()].join(", ")}, ` +
        `not ${String(name)}`,
    );
  }
  return number;
}
