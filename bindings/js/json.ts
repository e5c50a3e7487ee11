/**
 * JSON of what programs have as objects: schemas, tools, messages, choices. The
 * packages for Node and for pages have this file both; their build copies it.
 */

/**
 * A JSON Schema: as an object, as JSON, or an object of a library of schemas,
 * such as zod: one with the interface Standard JSON Schema
 * (`schema["~standard"].jsonSchema`), or with a method `toJSONSchema` or
 * `toJsonSchema`.
 */
export type Schema = object | boolean | string;

/**
 * An option that is JSON: an object, or the JSON itself. Schemas within it, and
 * the whole of `responseFormat`, may be those of a library, too.
 */
export type JsonOption = object | string;

const DRAFT = "draft-2020-12";

const isObject = (value: unknown): value is Record<string, any> =>
  (typeof value === "object" && value !== null) || typeof value === "function";

/** A JSON schema of zod: plain, with its maker as a property that is hidden. */
function isMade(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  const own = Object.getOwnPropertyDescriptor(value, "~standard");
  return own !== undefined && !own.enumerable;
}

/**
 * The JSON schema that an object of a library of schemas has: of what it takes,
 * not of what it makes of that. undefined: it is no such object.
 */
export function schemaOf(value: unknown, name: string): unknown {
  if (!isObject(value) || isMade(value)) return undefined;
  const standard: unknown = value["~standard"];
  const maker: unknown = isObject(standard) ? standard["jsonSchema"] : undefined;
  if (isObject(maker) && typeof maker["input"] === "function") {
    return maker["input"]({ target: DRAFT });
  }
  for (const method of ["toJSONSchema", "toJsonSchema"]) {
    if (typeof value[method] !== "function") continue;
    return value[method]({ target: DRAFT, io: "input" });
  }
  if (standard === undefined) return undefined;
  throw new TypeError(
    `${name}: this schema has no JSON schema; give what its library makes ` +
      "of it, as z.toJSONSchema(schema) does",
  );
}

/**
 * The JSON of an argument of this name; a string is JSON already. TypeError:
 * JSON has nothing for it.
 */
export function jsonText(value: unknown, name: string): string {
  return typeof value === "string" ? value : written(value, name);
}

/** The JSON of a value, also of a string. */
export function written(value: unknown, name: string): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(
      value,
      (_, each: unknown) => schemaOf(each, name) ?? each,
    );
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw new TypeError(said.startsWith(name) ? said : `${name}: ${said}`);
  }
  if (text === undefined) {
    throw new TypeError(`${name}: JSON has nothing for ${String(value)}`);
  }
  return text;
}

/** As jsonText, of an option; a schema alone is the format of an answer. */
export function optionText(value: unknown, name: string): string {
  if (name === "responseFormat") {
    const schema = schemaOf(value, name);
    if (schema !== undefined) {
      return jsonText(
        { type: "json_schema", json_schema: { name: "answer", schema } },
        name,
      );
    }
  }
  return jsonText(value, name);
}
