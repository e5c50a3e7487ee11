// The walk of a team through the steps of a program.
//
// One thread at a time is at the head of the walk. It does small steps itself
// and opens large ones, as units, to the threads that are awake; the thread
// that finds that the last unit is done goes on at the head. So no thread waits
// for one that has not begun, a thread alone gets through everything at its own
// speed, and what a thread without a processor holds is a unit: of most work it
// is done again by another (see units.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "cpu/pool.h"
#include "cpu/step.h"

namespace rc::cpu {

class Walk final : private Pool::Job {
 public:
  // Steps that begin an op are timed if `timed`.
  Walk(Pool& pool, const std::vector<std::unique_ptr<Step>>& steps, Run& run,
       bool timed);
  // Waits until left().
  ~Walk();

  // Whether no thread is within the last run any more. One that comes late may
  // have begun a unit that can be repeated, or only look for one.
  bool left() const { return pool_.left(this); }

  // Conflicts are looked for among that many steps; so many steps in a row are
  // never opened together.
  static constexpr int kWindow = 64;

  // Does the run, on the calling thread and those of the pool.
  void run();

  // Whether units that others hold are done again: not under the thread
  // sanitizer.
  static bool repeats();

  // Of the last run, by op, from the beginning of one to that of the next;
  // empty if not timed.
  const std::vector<rc_plugin_op_time>& op_times() const { return op_times_; }

 private:
  void plan();
  void help(int thread) override;
  // The calling thread is at the head, before step next_. Returns when it is
  // not any more.
  void lead(int thread);
  // Opens steps begin to end, to be done in any order; gives the turn. Others
  // may have gone on from it when this returns.
  uint64_t open(size_t begin, size_t end, int64_t cost);
  // Does units until none is left to take.
  void take_units(uint64_t turn, int thread);
  void do_unit(size_t step, uint64_t turn, const Units::Unit& unit, int thread);
  // Does again what others hold, as far as that can be. False: nothing.
  bool repeat_held(uint64_t turn, int thread);
  // Whether everything open is done, and this thread is the one to go on.
  bool take_lead(uint64_t turn);
  void begin_op(size_t step);
  void finish_times();

  Pool& pool_;
  const std::vector<std::unique_ptr<Step>>& steps_;
  Run& run_;
  std::vector<std::unique_ptr<Units>> units_;  // by step
  EventCount caller_;                          // for thread 0

  // Of the current run, by step; written before helpers are called.
  enum class Mode : uint8_t { kNothing, kAlone, kTogether };
  std::vector<Mode> modes_;
  std::vector<int64_t> costs_;
  std::vector<uint8_t> barriers_;  // before the step
  size_t next_ = 0;                // of who is at the head

  // Twice the turn that is open, or 1 more while a thread is at the head.
  alignas(64) std::atomic<uint64_t> state_{1};
  std::atomic<bool> finished_{true};
  // The steps that are open.
  std::atomic<size_t> begin_{0}, end_{0};

  std::vector<rc_plugin_op_time> op_times_;
  std::vector<std::atomic<int64_t>> op_begins_;
  std::vector<int32_t> timed_op_;  // by step that begins an op; else -1
};

}  // namespace rc::cpu
