/** The support of this browser and this page for the package's requirements. */
import { UnsupportedError } from "./errors.js";

export interface Support {
  /** 128-bit SIMD of WebAssembly, without which nothing runs. */
  readonly simd: boolean;
  /** SharedArrayBuffer, without which one thread computes. */
  readonly threads: boolean;
  /** The missing features and what to do about them; "" if none. */
  readonly advice: string;
}

/**
 * A module that makes a vector from a number: one function without parameters that
 * returns a v128, by i32.const 0 and i8x16.splat (WebAssembly Core 2.0, chapter 5).
 */
const vectors = Uint8Array.of(
  ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
  ...[0x01, 0x05, 0x01, 0x60, 0x00, 0x01, 0x7b],
  ...[0x03, 0x02, 0x01, 0x00],
  ...[0x0a, 0x08, 0x01, 0x06, 0x00, 0x41, 0x00, 0xfd, 0x0f, 0x0b],
);

const noSimd =
  "this browser has no SIMD of WebAssembly: it takes Chromium 91, Firefox 100, " +
  "Safari 16.4 or a later one";
const notIsolated =
  "this page is not isolated, so that it has no SharedArrayBuffer and one " +
  "thread computes: serve it, and all that it loads, with the headers " +
  '"Cross-Origin-Opener-Policy: same-origin" and ' +
  '"Cross-Origin-Embedder-Policy: require-corp", by https or from localhost';

/** Reports the available features, without starting anything. */
export function support(): Support {
  const simd =
    typeof WebAssembly === "object" && WebAssembly.validate(vectors);
  const threads =
    typeof SharedArrayBuffer === "function" &&
    globalThis.crossOriginIsolated === true;
  let advice = "";
  if (!simd) advice = noSimd;
  else if (!threads) advice = notIsolated;
  return Object.freeze({ simd, threads, advice });
}

/** Returns whether to compute with threads; `wanted` undefined: if available. */
export function threadsOf(wanted: boolean | undefined): boolean {
  const { simd, threads } = support();
  if (!simd) throw new UnsupportedError(noSimd);
  if (wanted === true && !threads) throw new UnsupportedError(notIsolated);
  return wanted ?? threads;
}
