#include "cpu/walk.h"

#include <algorithm>
#include <chrono>

namespace rc::cpu {
namespace {

// Steps below this cost are not opened to others.
constexpr int64_t kAloneCost = 8192;
// Nor are steps below that if everybody is asleep: waking takes as long.
constexpr int64_t kWakeCost = 65536;
// A unit has at least that cost, where there is a choice.
constexpr int64_t kUnitCost = 2048;
// Units for each thread, where there is a choice; of long steps so many that
// one is about this cost, but not too many to be counted.
constexpr int64_t kUnitsPerThread = 8;
constexpr int64_t kLongUnitCost = int64_t{1} << 18;
constexpr int64_t kMostUnitsPerThread = 64;

// Looks, of some 40 nanoseconds, before a unit that another thread holds is
// done again; longer than a unit takes.
constexpr int kLooksBeforeRepeat = 500;

// The caller's thread, if it sleeps, wakes as often to ask the caller whether
// to stop.
constexpr std::chrono::milliseconds kAsk(1);

// The thread sanitizer is right that a thread that comes late reads what others
// write; what it makes of that is thrown away. So that it sees everything else,
// nothing is repeated under its eyes.
#if defined(__SANITIZE_THREAD__)
constexpr bool kRepeat = false;
#else
constexpr bool kRepeat = true;
#endif

}  // namespace

Walk::Walk(Pool& pool, const std::vector<std::unique_ptr<Step>>& steps,
           Run& run, bool timed)
    : pool_(pool),
      steps_(steps),
      run_(run),
      modes_(steps.size()),
      costs_(steps.size()),
      barriers_(steps.size()),
      timed_op_(steps.size(), -1) {
  for (const auto& step : steps) {
    units_.push_back(std::make_unique<Units>(
        pool.threads(), kRepeat && pool.threads() > 1 ? step->repeatable : 0));
  }
  for (size_t i = 0; timed && i < steps.size(); ++i) {
    if (i > 0 && steps[i]->op == steps[i - 1]->op) continue;
    timed_op_[i] = static_cast<int32_t>(op_times_.size());
    op_times_.push_back({sizeof(rc_plugin_op_time), steps[i]->op, 0, 0});
  }
  op_begins_ = std::vector<std::atomic<int64_t>>(op_times_.size());
}

bool Walk::repeats() { return kRepeat; }

Walk::~Walk() { pool_.wait_until_left(this); }

void Walk::plan() {
  const int threads = pool_.threads();
  int32_t last_barrier = 0;  // the first step after it
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = *steps_[i];
    costs_[i] = step.cost(run_);
    modes_[i] =
        costs_[i] == 0 ? Mode::kNothing
        : threads == 1 || costs_[i] < kAloneCost || step.pieces(run_) == 1
            ? Mode::kAlone
            : Mode::kTogether;
    barriers_[i] = 0;
    if (modes_[i] == Mode::kNothing || threads == 1) continue;
    bool wait = static_cast<int32_t>(i) - last_barrier >= kWindow;
    for (size_t c = step.conflicts.size(); c > 0 && !wait; --c) {
      const int32_t other = step.conflicts[c - 1];
      if (other < last_barrier) break;
      wait = modes_[other] != Mode::kNothing &&
             (modes_[other] == Mode::kTogether || modes_[i] == Mode::kTogether);
    }
    if (wait) {
      barriers_[i] = 1;
      last_barrier = static_cast<int32_t>(i);
    }
  }
}

void Walk::run() {
  plan();
  next_ = 0;
  finished_ = false;
  if (pool_.threads() > 1) pool_.begin(this);
  lead(0);
  while (!finished_) {
    const uint32_t seen = caller_.news();
    help(0);
    if (finished_) break;
    caller_.wait(seen, 0, kAsk);
    run_.stopped(0);
  }
  if (pool_.threads() > 1) pool_.end();
  if (!op_times_.empty()) finish_times();
}

void Walk::lead(int thread) {
  const size_t count = steps_.size();
  size_t i = next_;
  while (i < count) {
    size_t end = i;
    int64_t cost = 0;  // of what can be done together
    do {
      if (modes_[end] == Mode::kTogether) {
        cost = std::min(cost, INT64_MAX / 4) +
               std::min(costs_[end], INT64_MAX / 4);
      }
      ++end;
    } while (end < count && !barriers_[end]);
    const bool opened = cost > 0 && (cost >= kWakeCost || !pool_.all_asleep());
    for (size_t k = i; k < end; ++k) {
      if (modes_[k] == Mode::kNothing) {
        begin_op(k);
      } else if (modes_[k] == Mode::kAlone || !opened) {
        begin_op(k);
        if (run_.stopped(thread)) continue;
        steps_[k]->work(run_, {0, steps_[k]->pieces(run_), thread});
      }
    }
    if (opened) {
      next_ = end;
      const uint64_t turn = open(i, end, cost);
      take_units(turn, thread);
      if (!take_lead(turn)) return;
    }
    i = end;
  }
  finished_ = true;
  caller_.ring();
  caller_.wake();
}

uint64_t Walk::open(size_t begin, size_t end, int64_t cost) {
  const uint64_t turn = state_.load(std::memory_order_relaxed) / 2 + 1;
  for (size_t i = begin; i < end; ++i) {
    const Step& step = *steps_[i];
    if (modes_[i] != Mode::kTogether) {
      units_[i]->open(turn, 0, 1, 1);
      continue;
    }
    const int64_t pieces = step.pieces(run_);
    int64_t grain = 1;
    if (step.repeatable == 0) {
      const int64_t most =
          pool_.threads() *
          std::clamp(costs_[i] / kLongUnitCost / pool_.threads(),
                     kUnitsPerThread, kMostUnitsPerThread);
      const int64_t units =
          std::clamp<int64_t>(costs_[i] / kUnitCost, 1, std::min(pieces, most));
      // Rounded down: of few large pieces two make a long last unit.
      grain = pieces / units;
    }
    units_[i]->open(turn, pieces, step.multiple(run_), grain);
  }
  begin_.store(begin, std::memory_order_relaxed);
  end_.store(end, std::memory_order_relaxed);
  state_ = turn * 2;
  const bool wake = cost >= kWakeCost;
  pool_.call(wake);
  caller_.ring();
  if (wake) caller_.wake();
  return turn;
}

void Walk::help(int thread) {
  while (!finished_) {
    const uint64_t state = state_;
    const uint64_t turn = state / 2;
    const bool open = state % 2 == 0;
    if (open) {
      take_units(turn, thread);
      if (take_lead(turn)) {
        lead(thread);
        continue;
      }
    }
    bool changed = false;
    for (int i = 0; i < kLooksBeforeRepeat && !changed; ++i) {
      pause();
      changed = state_ != state || finished_;
    }
    if (changed) continue;
    if (!open || !repeat_held(turn, thread)) return;
    if (take_lead(turn)) lead(thread);
  }
}

void Walk::take_units(uint64_t turn, int thread) {
  // Another turn's, if this one is over: then nothing can be taken.
  const size_t end = end_.load(std::memory_order_relaxed);
  for (size_t i = begin_.load(std::memory_order_relaxed); i < end; ++i) {
    Units::Unit unit;
    // A look at the clock for every unit would be felt.
    for (int k = 0; units_[i]->take(turn, thread, &unit); ++k) {
      if (thread == 0 && k % 8 == 0) run_.stopped(thread);
      do_unit(i, turn, unit, thread);
    }
  }
}

void Walk::do_unit(size_t step, uint64_t turn, const Units::Unit& unit,
                   int thread) {
  if (unit.begin == 0) begin_op(step);
  Share share = {unit.begin, unit.end, thread};
  if (!units_[step]->can_repeat()) {
    if (!run_.stopped()) steps_[step]->work(run_, share);
    units_[step]->done(unit);
    return;
  }
  share.units = units_[step].get();
  share.turn = turn;
  share.part = unit.part;
  if (run_.stopped()) return share.commit([] {});
  steps_[step]->work(run_, share);
}

bool Walk::repeat_held(uint64_t turn, int thread) {
  bool any = false;
  const size_t end = end_.load(std::memory_order_relaxed);
  for (size_t i = begin_.load(std::memory_order_relaxed); i < end; ++i) {
    Units::Unit unit;
    for (int64_t from = 0; units_[i]->find_held(turn, from, &unit);
         from = unit.end) {
      do_unit(i, turn, unit, thread);
      any = true;
    }
  }
  return any;
}

bool Walk::take_lead(uint64_t turn) {
  const size_t end = end_.load(std::memory_order_relaxed);
  for (size_t i = begin_.load(std::memory_order_relaxed); i < end; ++i) {
    if (!units_[i]->all_done()) return false;
  }
  // All of this turn, if it is the current one.
  uint64_t state = turn * 2;
  return state_.compare_exchange_strong(state, state + 1);
}

void Walk::begin_op(size_t step) {
  if (timed_op_[step] >= 0) {
    op_begins_[timed_op_[step]].store(now_ns(), std::memory_order_relaxed);
  }
}

// Of ops that are open together one may begin before the one before it.
void Walk::finish_times() {
  int64_t end = now_ns();
  for (size_t i = op_times_.size(); i-- > 0;) {
    op_times_[i].end_ns = end;
    end = std::min(end, op_begins_[i].load(std::memory_order_relaxed));
    op_times_[i].begin_ns = end;
  }
}

}  // namespace rc::cpu
