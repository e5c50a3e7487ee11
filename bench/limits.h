// What a machine can do at most, measured: the ceiling under which the figures
// of the other benchmarks are read.
#pragma once

#include <algorithm>
#include <string>

namespace rc::bench {

struct Limits {
  int threads = 0;
  // Bytes per second that all threads together read from memory.
  double read_rate = 0;
  // Operations per second, a multiplication and an addition counting as two:
  // products of 8-bit integers summed in 32 bits by the widest instruction for
  // it, and fused multiply-adds in f32.
  double int8_rate = 0;  // 0: no such instruction is known here
  double f32_rate = 0;
  std::string int8_instruction;  // "avx512vnni"; "" if the rate is 0
  std::string f32_instruction;   // "avx512f"

  // Of products with weights of 16 bits: as 16-bit integers, of which an
  // instruction multiplies half as many as of 8 bits, or in f32.
  double half_rate() const { return std::max(int8_rate / 2, f32_rate); }
};

// Takes about a second. `threads` 0: as many as the process may use.
Limits measure_limits(int threads);

// Threads that the process may use, by its affinity.
int available_threads();

}  // namespace rc::bench
