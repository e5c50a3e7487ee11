/** Reports of the library as objects. */
import { flags, kinds, layouts } from "../layouts.js";
import type { Library } from "./library.js";

const camel = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Returns a report in memory as an object. */
export function copied(library: Library, struct: string, at: number): object {
  const made: Record<string, unknown> = {};
  for (const [member, [, kind]] of Object.entries(layouts[struct]!.members)) {
    if (["struct_size", "reserved", "status"].includes(member)) continue;
    if (kind === "pointer") continue;
    const name = camel(member);
    const value = library.member(struct, at, member);
    if (struct === "device_report" && name === "kind") {
      made[name] = kinds.get(Number(value)) ?? "other";
    } else if (flags.has(name)) {
      made[name] = value !== 0;
    } else {
      made[name] = typeof value === "bigint" ? Number(value) : (value ?? "");
    }
  }
  return made;
}

/** Returns the report that a function fills about a handle. */
export function readReport(
  library: Library,
  name: string,
  struct: string,
  ...of: readonly number[]
): object {
  return library.scoped((scope) => {
    const at = scope.struct(struct);
    library.check(name, ...of, at);
    return copied(library, struct, at);
  });
}
