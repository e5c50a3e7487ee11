// Computes in a page what tests/web/bits.c prints of a model.
const PROMPT = 40;
const TOKENS = 64;
const CONTEXT = 256;
const TEXTS = ["The fox", "A crow sat on a tree with a piece of"];

/** FNV-1a of 64 bits over the bits of floats, in halves: numbers have 53 bits. */
class Hash {
  #high = 0xcbf29ce4;
  #low = 0x84222325;

  add(floats) {
    const { buffer, byteOffset, byteLength } = floats;
    for (const byte of new Uint8Array(buffer, byteOffset, byteLength)) {
      const low = (this.#low ^ byte) >>> 0;
      const product = low * 0x1b3;
      const carry = Math.floor(product / 2 ** 32);
      this.#high = (this.#high * 0x1b3 + carry + low * 2 ** 8) % 2 ** 32;
      this.#low = product % 2 ** 32;
    }
    return this;
  }

  toString() {
    const halves = [this.#high, this.#low];
    return halves.map((half) => half.toString(16).padStart(8, "0")).join("");
  }
}

async function ofLogits(model) {
  const session = model.session();
  const hash = new Hash();
  const tokens = [];
  let next = Array.from({ length: PROMPT }, (_, i) => 3 + ((i * 37 + i * i) % 64));
  for (let i = 0; i < TOKENS; ++i) {
    await session.append(next);
    await session.decode({ allLogits: i === 0 });
    const { data, rows, row } = await session.logits();
    hash.add(data);
    const last = row(rows - 1);
    next = [last.indexOf(last.reduce((most, each) => Math.max(most, each)))];
    tokens.push(...next);
  }
  session.close();
  return [...tokens, hash].join(" ");
}

async function ofEmbeddings(model) {
  const hash = new Hash();
  for (const row of await model.embed(TEXTS)) hash.add(row);
  return hash.toString();
}

/** Returns results by model name; those without tokens before the hash embed. */
export async function bits(models) {
  const backend = await runcible.Backend.open("cpu", { threads: 2 });
  const found = {};
  for (const { name, embeds } of models) {
    const url = `/golden/architectures/${name}.gguf`;
    const options = { backend, contextLength: CONTEXT, cache: false };
    const model = await runcible.Model.load(url, options);
    found[name] = await (embeds ? ofEmbeddings(model) : ofLogits(model));
    model.close();
  }
  backend.close();
  return found;
}
