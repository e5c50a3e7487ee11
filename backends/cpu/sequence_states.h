// The states of sequences that ops carry from row to row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "cpu/compiler.h"

namespace rc::cpu {

// The states of the sequences of a run, in slots of `size` elements.
struct States {
  Place sequences, slots;
  float* memory;
  int64_t count;  // of slots
  int64_t size;

  // sequences, state_slots and the cache are the inputs from `slot` on.
  States(Compiler& c, const Op& op, int slot)
      : sequences(c.place(op.inputs[slot])),
        slots(c.place(op.inputs[slot + 1])),
        memory(reinterpret_cast<float*>(c.cache(op.inputs[slot + 2]).memory)),
        count(c.value(op.inputs[slot + 2]).shape[0]),
        size(c.row_elements(op.inputs[slot + 2])) {}

  // The slots to read, NULL for none, and to write. False if they are none, and
  // the run has failed.
  struct Slots {
    const float* from;
    float* to;
  };
  bool find(Run& run, int64_t sequence, Slots* found) const {
    const int32_t* numbers = run.at<const int32_t>(slots) + 2 * sequence;
    if (numbers[0] < -1 || numbers[0] >= count || numbers[1] < 0 ||
        numbers[1] >= count) {
      run.fail(RC_E_INVALID_ARGUMENT,
               "sequence %lld reads the state in slot %d and writes slot %d of "
               "%lld",
               static_cast<long long>(sequence), numbers[0], numbers[1],
               static_cast<long long>(count));
      return false;
    }
    found->from = numbers[0] == -1 ? nullptr : memory + numbers[0] * size;
    found->to = memory + numbers[1] * size;
    return true;
  }

  // The `count` elements from `first` on of the state that is to be written, as
  // they are before the run.
  float* begin(const Slots& slots, int64_t first, int64_t count) const {
    float* state = slots.to + first;
    if (slots.from == nullptr) {
      std::fill_n(state, count, 0.0f);
    } else if (slots.from != slots.to) {
      std::copy_n(slots.from + first, count, state);
    }
    return state;
  }

  // Calls function(r) for each row of a sequence, in order. False if the run
  // has stopped.
  template <class Function>
  bool each_row(Run& run, int thread, int64_t sequence,
                const Function& function) const {
    const int32_t* of_row = run.at<const int32_t>(sequences);
    const int64_t rows = run.rows(RC_DIM_ROWS);
    int64_t done = 0;
    for (int64_t r = 0; r < rows; ++r) {
      if (of_row[r] != sequence) continue;
      if (done++ % 16 == 0 && run.stopped(thread)) return false;
      function(r);
    }
    return true;
  }
};

// The sequence of every row is one of the run.
void add_sequence_check(Compiler& c, const Op& op, int32_t sequences);

inline double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

}  // namespace rc::cpu
