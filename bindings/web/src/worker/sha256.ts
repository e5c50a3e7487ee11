/** SHA-256 of data that arrives in pieces (FIPS 180-4), which no browser provides. */

/** The first 32 bits of the fractional parts of roots of the first primes. */
function fractions(count: number, root: (prime: number) => number): Uint32Array {
  const found: number[] = [];
  for (let n = 2; found.length < count; ++n) {
    let prime = true;
    for (let d = 2; d * d <= n; ++d) if (n % d === 0) prime = false;
    if (prime) found.push((root(n) % 1) * 2 ** 32);
  }
  return Uint32Array.from(found);
}

const initial = fractions(8, Math.sqrt);
const constants = fractions(64, Math.cbrt);

export class Sha256 {
  readonly #state = initial.slice();
  readonly #words = new Uint32Array(64);
  readonly #block = new Uint8Array(64);
  readonly #view = new DataView(this.#block.buffer);
  #filled = 0;
  #length = 0;

  update(bytes: Uint8Array): void {
    this.#length += bytes.length;
    let at = 0;
    while (at < bytes.length) {
      const taken = Math.min(64 - this.#filled, bytes.length - at);
      this.#block.set(bytes.subarray(at, at + taken), this.#filled);
      this.#filled += taken;
      at += taken;
      if (this.#filled === 64) this.#mix();
    }
  }

  /** Returns 64 hexadecimal digits; nothing can be added afterwards. */
  digest(): string {
    const bits = BigInt(this.#length) * 8n;
    this.#block.fill(0, this.#filled);
    this.#block[this.#filled] = 0x80;
    if (this.#filled >= 56) {
      this.#mix();
      this.#block.fill(0);
    }
    this.#view.setBigUint64(56, bits);
    this.#mix();
    return Array.from(this.#state, (word) =>
      word.toString(16).padStart(8, "0"),
    ).join("");
  }

  #mix(): void {
    const w = this.#words;
    for (let i = 0; i < 16; ++i) w[i] = this.#view.getUint32(4 * i);
    for (let i = 16; i < 64; ++i) {
      const x = w[i - 15]!;
      const y = w[i - 2]!;
      const s0 =
        ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
      const s1 =
        ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
      w[i] = w[i - 16]! + s0 + w[i - 7]! + s1;
    }
    const state = this.#state;
    let a = state[0]! | 0, b = state[1]! | 0, c = state[2]! | 0;
    let d = state[3]! | 0, e = state[4]! | 0, f = state[5]! | 0;
    let g = state[6]! | 0, h = state[7]! | 0;
    for (let i = 0; i < 64; ++i) {
      const s1 =
        ((e >>> 6) | (e << 26)) ^
        ((e >>> 11) | (e << 21)) ^
        ((e >>> 25) | (e << 7));
      const one =
        (h + s1 + ((e & f) ^ (~e & g)) + constants[i]! + w[i]!) | 0;
      const s0 =
        ((a >>> 2) | (a << 30)) ^
        ((a >>> 13) | (a << 19)) ^
        ((a >>> 22) | (a << 10));
      const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + one) | 0;
      d = c;
      c = b;
      b = a;
      a = (one + two) | 0;
    }
    [a, b, c, d, e, f, g, h].forEach((word, i) => {
      state[i] = state[i]! + word;
    });
    this.#filled = 0;
  }
}

export function sha256(text: string): string {
  const hash = new Sha256();
  hash.update(new TextEncoder().encode(text));
  return hash.digest();
}
