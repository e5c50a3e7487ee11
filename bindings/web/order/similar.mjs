// Orders texts so that similar ones are near each other. The next text is always the
// one with the largest part in the preceding texts, as far as gzip looks back.

const WINDOW = 32768;
/** The length in bytes of the pieces by which texts are compared. */
const PIECE = 6;
/** Pieces in more texts than this do not help to place a text. */
const COMMON = 200;
/** For very short texts, a part that is found means little. */
const SHORT = 8;

/** Returns a hash of the piece at each position. */
function piecesOf(text) {
  const pieces = new Uint32Array(Math.max(0, text.length - PIECE + 1));
  for (let i = 0; i < pieces.length; ++i) {
    let hash = 0;
    for (let j = 0; j < PIECE; ++j) hash = Math.imul(hash ^ text[i + j], 0x9e3779b1);
    hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
    pieces[i] = hash ^ (hash >>> 13);
  }
  return pieces;
}

/** Returns the texts of each piece that several texts contain, but not too many. */
function holdersOf(distinct) {
  const holders = new Map();
  distinct.forEach((pieces, text) => {
    for (const piece of pieces) {
      const list = holders.get(piece);
      if (list) list.push(text);
      else holders.set(piece, [text]);
    }
  });
  for (const [piece, { length }] of holders) {
    if (length < 2 || length > COMMON) holders.delete(piece);
  }
  return holders;
}

/** The last bytes that have been written. */
class Window {
  #holders;
  #counts = new Map(); // by piece
  #places = []; // of pieces, in all text written
  #begin = 0;
  #written = 0;
  /** The number of each text's pieces that are in the window. */
  found;

  constructor(holders, texts) {
    this.#holders = holders;
    this.found = new Uint32Array(texts);
  }

  append(pieces, length) {
    pieces.forEach((piece, place) => {
      if (!this.#holders.has(piece)) return;
      const count = this.#counts.get(piece) ?? 0;
      this.#counts.set(piece, count + 1);
      this.#places.push([piece, this.#written + place]);
      if (count === 0) this.#change(piece, 1);
    });
    this.#written += length;
    while (this.#places[this.#begin]?.[1] < this.#written - WINDOW) {
      const [piece] = this.#places[this.#begin++];
      const count = this.#counts.get(piece) - 1;
      this.#counts.set(piece, count);
      if (count === 0) this.#change(piece, -1);
    }
  }

  #change(piece, by) {
    for (const text of this.#holders.get(piece)) this.found[text] += by;
  }
}

/** Returns the numbers of the texts in order; the first `kept` stay in place. */
export function orderOf(texts, kept = 0) {
  const pieces = texts.map(piecesOf);
  const distinct = pieces.map((each) => new Set(each));
  const window = new Window(holdersOf(distinct), texts.length);
  const left = new Set(texts.keys());
  const order = [];
  const take = (text) => {
    left.delete(text);
    order.push(text);
    window.append(pieces[text], texts[text].length);
  };
  for (let text = 0; text < Math.min(kept, texts.length); ++text) take(text);
  while (left.size > 0) {
    let best;
    let most = -1;
    for (const text of left) {
      const part = window.found[text] / (distinct[text].size + SHORT);
      if (part > most) [best, most] = [text, part];
    }
    take(best);
  }
  return order;
}
