#include "cpu/units.h"

#include <algorithm>

namespace rc::cpu {

Units::Units(int threads, int64_t repeatable)
    : parts_(threads), states_(repeatable) {}

void Units::open(uint64_t turn, int64_t count, int64_t multiple,
                 int64_t grain) {
  const int threads = static_cast<int>(parts_.size());
  int64_t units = 0;
  // A thread that sees a part of the new ranges also sees that the old turn is
  // over.
  for (Range& range : parts_) {
    range.claimed.store(word(turn + (uint64_t{1} << 31), 0),
                        std::memory_order_relaxed);
  }
  grain_.store(grain, std::memory_order_release);
  for (int i = 0; i < threads; ++i) {
    const Part part(count / multiple, i, threads);
    const int64_t begin = part.begin * multiple;
    const int64_t end = part.end * multiple;
    units += (end - begin + grain - 1) / grain;
    parts_[i].begin.store(begin, std::memory_order_release);
    parts_[i].end.store(end, std::memory_order_release);
    parts_[i].done.store(0, std::memory_order_relaxed);
  }
  units_.store(units, std::memory_order_relaxed);
  for (Range& range : parts_) {
    range.claimed.store(word(turn, 0), std::memory_order_release);
  }
}

bool Units::take(uint64_t turn, int thread, Unit* unit) {
  const int threads = static_cast<int>(parts_.size());
  for (int i = 0; i < threads; ++i) {
    const int part = thread + i < threads ? thread + i : thread + i - threads;
    Range& range = parts_[part];
    uint64_t claimed = range.claimed.load(std::memory_order_acquire);
    for (;;) {
      if (!of_turn(claimed, turn)) return false;
      // Of this turn, if the exchange succeeds.
      const int64_t grain = grain_.load(std::memory_order_acquire);
      const int64_t end = range.end.load(std::memory_order_acquire);
      const int64_t begin = range.begin.load(std::memory_order_acquire) +
                            static_cast<int64_t>(claimed & UINT32_MAX) * grain;
      if (begin >= end) break;
      if (range.claimed.compare_exchange_weak(claimed, claimed + 1,
                                              std::memory_order_acq_rel,
                                              std::memory_order_acquire)) {
        *unit = {begin, std::min(begin + grain, end), part};
        return true;
      }
    }
  }
  return false;
}

bool Units::all_done() const {
  int64_t done = 0;
  for (const Range& range : parts_) done += range.done.load();
  return done == units_.load(std::memory_order_relaxed);
}

// A load alone could be done before what was read of the run.
bool Units::wanted(uint64_t turn, const Unit& unit) {
  return states_[unit.begin].fetch_or(0, std::memory_order_acq_rel) / 2 < turn;
}

bool Units::find_held(uint64_t turn, int64_t from, Unit* unit) const {
  if (states_.empty()) return false;
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Range& range = parts_[i];
    const int64_t begin = range.begin.load(std::memory_order_acquire);
    const int64_t end = std::min(range.end.load(std::memory_order_acquire),
                                 static_cast<int64_t>(states_.size()));
    for (int64_t piece = std::max(begin, from); piece < end; ++piece) {
      if (states_[piece].load(std::memory_order_relaxed) / 2 >= turn) continue;
      // A piece of this turn, unless the range has changed meanwhile.
      if (!of_turn(range.claimed.load(std::memory_order_relaxed), turn)) {
        return false;
      }
      *unit = {piece, piece + 1, static_cast<int>(i)};
      return true;
    }
  }
  return false;
}

}  // namespace rc::cpu
