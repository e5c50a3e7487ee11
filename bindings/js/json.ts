/**
 * JSON of values that programs have as objects: schemas, tools, messages, choices.
 * The packages for Node and for pages share this file; their build copies it.
 */

/**
 * A JSON Schema: an object, JSON text, or an object of a schema library such as
 * zod, with the interface Standard JSON Schema
 * (`schema["~standard"].jsonSchema`), or with a method `toJSONSchema` or
 * `toJsonSchema`.
 */
export type Schema = object | boolean | string;

/**
 * An option that is JSON: an object, or JSON text. Schemas within it, and the
 * whole of `responseFormat`, may also be those of a library.
 */
export type JsonOption = object | string;

const DRAFT = "draft-2020-12";

const isObject = (value: unknown): value is Record<string, any> =>
  (typeof value === "object" && value !== null) || typeof value === "function";

/** Whether a value is a plain JSON schema made by zod, with its maker hidden. */
function isMade(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  const own = Object.getOwnPropertyDescriptor(value, "~standard");
  return own !== undefined && !own.enumerable;
}

/**
 * Returns the JSON schema of an object of a schema library: of its input, not of
 * its output. undefined: the value is not such an object.
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
 * Returns the JSON of an argument of this name; a string is JSON already. Throws a
 * TypeError if JSON cannot represent it.
 */
export function jsonText(value: unknown, name: string): string {
  return typeof value === "string" ? value : written(value, name);
}

/** Returns the JSON of a value, including that of a string. */
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

/** Like jsonText, for an option; a schema alone is the format of an answer. */
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
