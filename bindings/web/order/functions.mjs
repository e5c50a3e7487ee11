// Reorders the functions of a WebAssembly module. A function's number is its position,
// so every reference to a function is rewritten. The binary format is chapter 5 of the
// WebAssembly Core Specification 3.0, with exceptions as in version 3 of their proposal,
// which browsers run since Chromium 95. Throws an Error for anything unknown.

/** Sections that refer to functions, or contain their count. */
const section = {
  custom: 0,
  import: 2,
  function: 3,
  global: 6,
  export: 7,
  start: 8,
  element: 9,
  code: 10,
};

class Reader {
  constructor(bytes, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  byte() {
    if (this.at >= this.bytes.length) throw new Error("the module breaks off");
    return this.bytes[this.at++];
  }

  /** An unsigned LEB128 of 32 bits. */
  number() {
    let value = 0;
    for (let unit = 1; ; unit *= 128) {
      const byte = this.byte();
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) return value;
    }
  }

  /** Any LEB128. */
  passNumber() {
    while (this.byte() >= 0x80);
  }

  passNumbers(count) {
    for (let i = 0; i < count; ++i) this.passNumber();
  }

  pass(count) {
    this.at += count;
  }

  take(count) {
    this.at += count;
    if (this.at > this.bytes.length) throw new Error("the module breaks off");
    return this.bytes.subarray(this.at - count, this.at);
  }
}

/** The output, with new numbers of functions. */
class Writer {
  #chunks = [];

  bytes(bytes) {
    this.#chunks.push(bytes);
  }

  number(value) {
    const bytes = [];
    for (; value >= 0x80; value = Math.floor(value / 128)) {
      bytes.push((value % 128) | 0x80);
    }
    this.#chunks.push(Uint8Array.of(...bytes, value));
  }

  /** Writes bytes preceded by their length. */
  sized(bytes) {
    this.number(bytes.length);
    this.bytes(bytes);
  }

  get made() {
    return Buffer.concat(this.#chunks);
  }
}

// ---- Instructions

/** Functions that skip the immediates of an instruction, by its number. */
const passes = new Map();
function known(numbers, pass) {
  for (const number of numbers) passes.set(number, pass);
}
const range = (first, last) =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i);
const nothing = () => {};
const numbers = (count) => (reader) => reader.passNumbers(count);
const bytes = (count) => (reader) => reader.pass(count);

known([0x00, 0x01, 0x05, 0x0b, 0x0f, 0x19, 0x1a, 0x1b, 0xd1], nothing);
known(range(0x45, 0xc4), nothing);
// Blocks, branches, exceptions, variables, tables, memories, constants.
known([0x02, 0x03, 0x04, 0x06, 0x07, 0x08, 0x09, 0x0c, 0x0d, 0x18], numbers(1));
known([...range(0x20, 0x26), 0x3f, 0x40, 0x41, 0x42, 0xd0], numbers(1));
known([0x11, 0x13, ...range(0x28, 0x3e)], numbers(2));
known([0x43], bytes(4));
known([0x44], bytes(8));
known([0x0e], (reader) => reader.passNumbers(reader.number() + 1));
known([0x1c], (reader) => reader.passNumbers(reader.number()));
known([0xfc], (reader) => {
  const number = reader.number();
  if (number > 17) throw new Error(`it knows no instruction 0xfc ${number}`);
  reader.passNumbers(number < 8 ? 0 : [8, 10, 12, 14].includes(number) ? 2 : 1);
});
// Vectors.
known([0xfd], (reader) => {
  const number = reader.number();
  if (number <= 11 || number === 92 || number === 93) reader.passNumbers(2);
  else if (number === 12 || number === 13) reader.pass(16);
  else if (number >= 21 && number <= 34) reader.pass(1);
  else if (number >= 84 && number <= 91) {
    reader.passNumbers(2);
    reader.pass(1);
  }
});
// Threads.
known([0xfe], (reader) => {
  if (reader.number() === 3) reader.pass(1);
  else reader.passNumbers(2);
});

const CALL = 0x10;
const RETURN_CALL = 0x12;
const FUNCTION_REFERENCE = 0xd2;
const END = 0x0b;

/**
 * Copies instructions with the new numbers of the functions that they name, until
 * `ended` returns true for the number of the last one.
 */
function renumber(reader, ended, numberOf, writer) {
  let done = reader.at;
  for (let number; !ended(number); ) {
    number = reader.byte();
    if ([CALL, RETURN_CALL, FUNCTION_REFERENCE].includes(number)) {
      writer.bytes(reader.bytes.subarray(done, reader.at));
      writer.number(numberOf(reader.number()));
      done = reader.at;
      continue;
    }
    const pass = passes.get(number);
    if (pass === undefined) {
      throw new Error(`it knows no instruction 0x${number.toString(16)}`);
    }
    pass(reader);
  }
  writer.bytes(reader.bytes.subarray(done, reader.at));
}

// ---- Sections

function countImports(reader) {
  let functions = 0;
  for (let left = reader.number(); left > 0; --left) {
    reader.pass(reader.number());
    reader.pass(reader.number());
    const kind = reader.byte();
    if (kind === 0) {
      reader.passNumber();
      ++functions;
    } else if (kind === 1 || kind === 2) {
      if (kind === 1) reader.byte();
      const limited = (reader.byte() & 1) === 1;
      reader.passNumbers(limited ? 2 : 1);
    } else if (kind === 3 || kind === 4) {
      reader.pass(2);
    } else {
      throw new Error(`it knows no import of kind ${kind}`);
    }
  }
  return functions;
}

function readList(reader, read) {
  return Array.from({ length: reader.number() }, () => read(reader));
}

function writeExports(reader, numberOf, writer) {
  const count = reader.number();
  writer.number(count);
  for (let i = 0; i < count; ++i) {
    writer.sized(reader.take(reader.number()));
    const kind = reader.byte();
    const number = reader.number();
    writer.bytes(Uint8Array.of(kind));
    writer.number(kind === 0 ? numberOf(number) : number);
  }
}

function writeElements(reader, numberOf, writer) {
  const count = reader.number();
  writer.number(count);
  for (let i = 0; i < count; ++i) {
    const begin = reader.at;
    const form = reader.number();
    if (form > 3) throw new Error(`it knows no elements of form ${form}`);
    if (form === 2) reader.passNumber();
    // An offset is a constant or a global.
    if (form === 0 || form === 2) {
      reader.byte();
      reader.passNumber();
      if (reader.byte() !== END) throw new Error("an offset that is computed");
    }
    if (form !== 0) reader.pass(1);
    writer.bytes(reader.bytes.subarray(begin, reader.at));
    const listed = readList(reader, (each) => numberOf(each.number()));
    writer.number(listed.length);
    for (const number of listed) writer.number(number);
  }
}

/** Each has a type and its mutability, a byte each, and a constant expression. */
function writeGlobals(reader, numberOf, writer) {
  const count = reader.number();
  writer.number(count);
  for (let i = 0; i < count; ++i) {
    writer.bytes(reader.take(2));
    renumber(reader, (last) => last === END, numberOf, writer);
  }
}

/** The code of each function, without its length. */
export function functionsOf(module) {
  return parse(module).codes;
}

function parse(module) {
  if (Buffer.from(module.subarray(0, 8)).toString("hex") !== "0061736d01000000") {
    throw new Error("it is not a WebAssembly module");
  }
  const reader = new Reader(module, 8);
  const sections = [];
  let imports = 0;
  let types = [];
  let codes = [];
  while (reader.at < module.length) {
    const id = reader.byte();
    const content = reader.take(reader.number());
    sections.push({ id, content });
    const inside = new Reader(content);
    if (id === section.import) imports = countImports(inside);
    if (id === section.function) types = readList(inside, (each) => each.number());
    if (id === section.code) {
      codes = readList(inside, (each) => each.take(each.number()));
    }
  }
  return { sections, imports, types, codes };
}

function writeCode(code, numberOf) {
  const writer = new Writer();
  const reader = new Reader(code);
  readList(reader, (each) => each.passNumbers(2)); // variables
  writer.bytes(code.subarray(0, reader.at));
  renumber(reader, () => reader.at >= code.length, numberOf, writer);
  return writer.made;
}

/**
 * Returns the module with its own functions in another order: `order` lists their old
 * positions, from 0 on. The module must not contain names of functions.
 */
export function reordered(module, order) {
  const { sections, imports, types, codes } = parse(module);
  const places = new Array(codes.length);
  order.forEach((old, place) => (places[old] = place));
  if (order.length !== codes.length || places.includes(undefined)) {
    throw new Error("an order that does not have each function once");
  }
  const numberOf = (old) => (old < imports ? old : imports + places[old - imports]);
  const writer = new Writer();
  writer.bytes(module.subarray(0, 8));
  for (const { id, content } of sections) {
    const reader = new Reader(content);
    const inside = new Writer();
    switch (id) {
      case section.custom: {
        const name = Buffer.from(reader.take(reader.number())).toString();
        if (name === "name") throw new Error("the module has names of functions");
        inside.bytes(content);
        break;
      }
      case section.function:
        inside.number(types.length);
        for (const old of order) inside.number(types[old]);
        break;
      case section.global:
        writeGlobals(reader, numberOf, inside);
        break;
      case section.export:
        writeExports(reader, numberOf, inside);
        break;
      case section.start:
        inside.number(numberOf(reader.number()));
        break;
      case section.element:
        writeElements(reader, numberOf, inside);
        break;
      case section.code:
        inside.number(codes.length);
        for (const old of order) inside.sized(writeCode(codes[old], numberOf));
        break;
      default:
        inside.bytes(content);
    }
    writer.bytes(Uint8Array.of(id));
    writer.sized(inside.made);
  }
  return writer.made;
}
