// The units of a step that a team does together: taken one by one by the
// threads that are awake.
//
// A step is opened for a *turn*, a number that grows with every opening, so
// that a thread that lost its processor and comes back late can do no harm: it
// holds the number of a turn that is over.
//
// A unit may be held by a thread that has no processor for many milliseconds.
// If a step is repeatable, another thread does such a unit again: each thread
// writes to private memory, and the first one to finish copies the result to
// its place (commit). The bits do not depend on the thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace rc::cpu {

// Part `part` of `parts` equal ones of `count` things.
struct Part {
  int64_t begin, end;
  Part(int64_t count, int part, int parts)
      : begin(count * part / parts), end(count * (part + 1) / parts) {}
};

class Units {
 public:
  // At most `repeatable` units of a turn can be repeated, if they are those of
  // a repeatable step; else 0.
  Units(int threads, int64_t repeatable);

  bool can_repeat() const { return !states_.empty(); }

  // The pieces that a thread has taken: begin to end of the step.
  struct Unit {
    int64_t begin = 0, end = 0;
    int part = 0;
  };

  // By one thread, while the turn before is over. The pieces 0 to `count` come
  // in units of `grain`, which is 1 if they can be repeated; each thread begins
  // with its own range of them, which begins at a multiple of `multiple`.
  void open(uint64_t turn, int64_t count, int64_t multiple, int64_t grain);
  // Takes the next unit for `thread`, first from its range, then from the
  // ranges of others. Returns false if none is left or the turn is over.
  bool take(uint64_t turn, int thread, Unit* unit);
  // A unit was done, by the thread that took it.
  void done(const Unit& unit) { parts_[unit.part].done.fetch_add(1); }
  // Whether all were done. Only means something while the turn lasts.
  bool all_done() const;

  // A unit that a thread took and did not commit, with a number of at least
  // `from`. False: there is none, or the step cannot be repeated.
  bool find_held(uint64_t turn, int64_t from, Unit* unit) const;
  // Whether no thread has committed the unit: the turn lasts, and what was read
  // before this call is of it.
  bool wanted(uint64_t turn, const Unit& unit);
  // Calls put() and counts the unit as done, unless another thread has: then
  // false.
  template <class Put>
  bool commit(uint64_t turn, const Unit& unit, const Put& put) {
    std::atomic<uint64_t>& state = states_[unit.begin];
    uint64_t before = state.load(std::memory_order_relaxed);
    if (before / 2 >= turn ||
        !state.compare_exchange_strong(before, turn * 2,
                                       std::memory_order_acq_rel)) {
      return false;
    }
    put();
    state.store(turn * 2 + 1, std::memory_order_release);
    done(unit);
    return true;
  }

 private:
  // The claimed part of a thread's range, in one word with the turn's lower
  // half; on a separate cache line.
  struct alignas(64) Range {
    std::atomic<uint64_t> claimed{0};
    std::atomic<int64_t> begin{0}, end{0};  // pieces
    std::atomic<int64_t> done{0};           // units
  };
  static uint64_t word(uint64_t turn, uint64_t units) {
    return turn << 32 | units;
  }
  // 2^32 turns take hours; no thread is late by that.
  static bool of_turn(uint64_t claimed, uint64_t turn) {
    return claimed >> 32 == (turn & UINT32_MAX);
  }

  std::vector<Range> parts_;
  // Of each unit that can be repeated: twice the turn in which it was committed
  // last, and 1 when that was finished.
  std::vector<std::atomic<uint64_t>> states_;
  std::atomic<int64_t> grain_{1};
  std::atomic<int64_t> units_{0};
};

}  // namespace rc::cpu
