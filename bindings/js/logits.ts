/** Logits of sessions. */

/** Logits of the last decode, F32 [rows, vocabulary]. */
export interface Logits {
  readonly rows: number;
  readonly vocabulary: number;
  /** All logits, row after row; owned by the caller. */
  readonly data: Float32Array;
  /** A view of one row. */
  row(i: number): Float32Array;
}

export function logitsOf([data, rows, vocabulary]: [Float32Array, number, number]): Logits {
  const row = (i: number) =>
    data.subarray(i * vocabulary, (i + 1) * vocabulary);
  return { rows, vocabulary, data, row };
}
