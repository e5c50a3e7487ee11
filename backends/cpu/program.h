// Compiled programs: a list of steps that a team of threads walks together.
//
// An op becomes one step or more. At a run each step is done either by thread 0
// alone, if it is small, or by all threads, each taking the part that follows
// from the step's shape and its own number. Barriers stand only where one
// thread would read or overwrite what another one works on.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "cpu/kernels.h"
#include "cpu/memory.h"
#include "cpu/pool.h"
#include "cpu/weight.h"
#include "runcible/plugin.h"

namespace rc::cpu {

class Compiler;

// Memory that steps read and write, for finding out which steps must wait for
// each other.
struct Area {
  enum Kind { kScratch, kActivations, kAngles, kInput, kOutput, kCache };
  Kind kind;
  int32_t index;
  uint64_t begin, end;  // bytes

  bool overlaps(const Area& other) const {
    return kind == other.kind && index == other.index && begin < other.end &&
           other.begin < end;
  }
};

// Where a value lies at a run.
struct Place {
  int32_t storage;
  int32_t index;
  uint64_t offset;
  uint8_t* memory = nullptr;  // of what lives between runs
};

// Part `thread` of `threads` equal ones of `count` units.
struct Part {
  int64_t begin, end;
  Part(int64_t count, int thread, int threads)
      : begin(count * thread / threads), end(count * (thread + 1) / threads) {}
};

// Units of a step that threads take: each those of its own part, in their
// order, and then what is left of the others'. A thread that lost its processor
// for a while does not keep the others waiting for its part.
class Shares {
 public:
  explicit Shares(int threads) : taken_(threads) {}

  // Before a run.
  void reset() {
    for (Taken& taken : taken_) taken.units.store(0, std::memory_order_relaxed);
  }

  struct Unit {
    int part;  // -1: none is left
    int64_t index;
  };
  // The next unit for `thread`. count(part) is the number of a part's units.
  template <class Count>
  Unit take(int thread, int threads, Count count) {
    for (int i = 0; i < threads; ++i) {
      const int part = (thread + i) % threads;
      std::atomic<int64_t>& units = taken_[part].units;
      const int64_t most = count(part);
      if (units.load(std::memory_order_relaxed) >= most) continue;
      const int64_t index = units.fetch_add(1, std::memory_order_relaxed);
      if (index < most) return {part, index};
    }
    return {-1, 0};
  }

 private:
  struct alignas(64) Taken {
    std::atomic<int64_t> units{0};
  };
  std::vector<Taken> taken_;
};

// A run under way, shared by all threads.
class Run {
 public:
  Run(const rc_plugin_run& run, uint8_t* scratch, const Kernels& kernels)
      : kernels(kernels), run_(run), scratch_(scratch) {}

  const Kernels& kernels;

  // Rows for the first dimension of a value.
  int64_t rows(int64_t dimension) const;
  template <class T>
  T* at(const Place& place) const {
    return static_cast<T*>(address(place));
  }

  // Ends the run with a failure; the first one counts. From any thread.
  void fail(rc_status status, const char* format, ...)
      __attribute__((format(printf, 3, 4)));
  // Whether to leave out what is left. Often called; thread 0 asks the caller
  // from time to time.
  bool stopped(int thread);

  // For rows that are done in well below a millisecond.
  template <class Function>
  void each_row(const Part& part, int thread, Function function) {
    for (int64_t r = part.begin; r < part.end; ++r) {
      if ((r - part.begin) % 16 == 0 && stopped(thread)) return;
      function(r);
    }
  }

  // After the run.
  rc_status status() const { return status_; }
  const char* message() const { return message_; }

 private:
  void* address(const Place& place) const;

  const rc_plugin_run& run_;
  uint8_t* scratch_;
  std::atomic<bool> stopped_{false};
  std::atomic_flag failed_ = ATOMIC_FLAG_INIT;
  rc_status status_ = RC_OK;
  char message_[RC_PLUGIN_MESSAGE_BYTES] = "";
  int64_t asked_ = 0;  // nanoseconds; when thread 0 last asked
};

class Step {
 public:
  virtual ~Step() = default;
  // A measure of the step's work: about one per element-wise operation. 0:
  // there is nothing to do.
  virtual int64_t cost(const Run& run) const = 0;
  // Does the part of `thread`. Must not throw. The result does not depend on
  // the number of threads.
  virtual void work(Run& run, int thread, int threads) const = 0;

  int32_t op = 0;  // whose step it is
  std::vector<Area> reads, writes;
  // Earlier steps that this one must not run beside.
  std::vector<int32_t> conflicts;
};

}  // namespace rc::cpu

struct rc_plugin_compiled {
  rc_plugin_compiled(const rc_plugin_program& program,
                     const rc::cpu::Kernels& kernels, int threads,
                     bool profile);

  // Checks the run's numbers and does it. Returns its result, with a message.
  rc_status run(rc::cpu::Pool& pool, const rc_plugin_run& run, char* message);
  // Of the last run, by op; empty without profile.
  const std::vector<rc_plugin_op_time>& op_times() const { return op_times_; }

 private:
  friend class rc::cpu::Compiler;

  // Conflicts are looked for among that many steps; so many steps in a row are
  // never without a barrier.
  static constexpr int kWindow = 64;
  void check(const rc_plugin_run& run) const;
  void plan(const rc::cpu::Run& run, int threads);
  void walk(rc::cpu::Pool& pool, rc::cpu::Run& run, int thread);

  const rc::cpu::Kernels& kernels_;
  int64_t max_rows_, max_outputs_, max_sequences_;
  std::vector<uint8_t> inputs_used_, outputs_used_;
  // The program's scratch and areas of this backend's own.
  rc::cpu::Memory64 scratch_;
  std::vector<rc::cpu::Memory64> areas_;
  std::vector<std::unique_ptr<rc::cpu::Step>> steps_;
  std::vector<std::unique_ptr<rc::cpu::Shares>> shares_;
  // Of the current run, by step.
  enum class Mode : uint8_t { kNothing, kAlone, kTogether };
  std::vector<Mode> modes_;
  std::vector<uint8_t> barriers_;  // before the step
  std::vector<rc_plugin_op_time> op_times_;
};
