// Whether Node takes instructions of relaxed SIMD, and with what option: printed,
// without a line's end.
import { spawnSync } from "node:child_process";

/** A function that gives i16x8.relaxed_dot_i8x16_i7x16_s of two zeros. */
const module = [
  ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
  ...[0x01, 0x05, 0x01, 0x60, 0x00, 0x01, 0x7b],
  ...[0x03, 0x02, 0x01, 0x00],
  ...[0x0a, 0x0f, 0x01, 0x0d, 0x00, 0x41, 0x00, 0xfd, 0x0f],
  ...[0x41, 0x00, 0xfd, 0x0f, 0xfd, 0x92, 0x02, 0x0b],
];
const script = `process.exit(WebAssembly.validate(Uint8Array.of(${module})) ? 0 : 1)`;
const taken = ["", "--experimental-wasm-relaxed-simd"].find(
  (option) =>
    spawnSync(process.execPath, [...(option ? [option] : []), "-e", script])
      .status === 0,
);
if (taken === undefined) process.exit(1);
process.stdout.write(taken);
