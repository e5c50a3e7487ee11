// The parts of programs: steps, one or more for each op, and the run for which
// they are done.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "cpu/kernels.h"
#include "cpu/units.h"
#include "runcible/plugin.h"

namespace rc::cpu {

// Memory that steps read and write, for finding out which steps must wait for
// each other.
struct Area {
  enum Kind {
    kScratch,
    kActivations,
    kAngles,
    kChoices,
    kHotExperts,
    kKept,
    kOwn,
    kInput,
    kOutput,
    kCache
  };
  Kind kind;
  int32_t index;
  uint64_t begin, end;  // bytes

  bool overlaps(const Area& other) const {
    return kind == other.kind && index == other.index && begin < other.end &&
           other.begin < end;
  }
};

// Of the clock that only goes forward.
int64_t now_ns();

// Where a value lies at a run.
struct Place {
  int32_t storage;
  int32_t index;
  uint64_t offset;
  // Of what lives between runs, unless the run brings other caches.
  uint8_t* memory = nullptr;
};

// The pieces of a step that a thread is to do.
struct Share {
  int64_t begin, end;
  int thread;  // whose scratch may be used
  // Of a unit that another thread may do as well; else NULL.
  Units* units = nullptr;
  uint64_t turn = 0;
  int part = 0;

  // For steps that can be repeated. Whether the result is still wanted; then
  // what was read of the run before is of this run, and what is in the
  // program's memory stays as it is unless commit fails.
  bool wanted() const {
    return units == nullptr || units->wanted(turn, {begin, end, part});
  }
  // Calls put(), which brings the result where it belongs, if it is wanted.
  template <class Put>
  void commit(const Put& put) const {
    if (units == nullptr) {
      put();
    } else {
      units->commit(turn, {begin, end, part}, put);
    }
  }
};

// The run under way of a program.
class Run {
 public:
  Run(uint8_t* scratch, const Kernels& kernels_of_level)
      : kernels(kernels_of_level), scratch_(scratch) {}

  const Kernels& kernels;

  // Before a run; no share of the run before is wanted any more. `caches`: the
  // memory of all of them for this run; NULL: that of the program.
  void begin(const rc_plugin_run& run, uint8_t* const* caches);

  // Rows for the first dimension of a value.
  int64_t rows(int64_t dimension) const;
  // Memory of the caller belongs to the run: not for a step that can be
  // repeated, except within commit.
  template <class T>
  T* at(const Place& place) const {
    switch (place.storage) {
      case RC_STORAGE_CACHE:
        return static_cast<T*>(static_cast<void*>(
            caches_ == nullptr ? place.memory
                               : caches_[place.index] + place.offset));
      case RC_STORAGE_INPUT:
        return static_cast<T*>(const_cast<void*>(run_->inputs[place.index]));
      case RC_STORAGE_OUTPUT:
        return static_cast<T*>(run_->outputs_data[place.index]);
      default:
        return static_cast<T*>(static_cast<void*>(scratch_ + place.offset));
    }
  }

  // Ends the run with a failure; the first one counts. From any thread, but for
  // a step that can be repeated only within commit.
  void fail(rc_status status, const char* format, ...)
      __attribute__((format(printf, 3, 4)));
  // Whether to leave out what is left.
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
  // The same. Often called: thread 0, the caller's, which is within the run for
  // certain, asks the caller from time to time.
  bool stopped(int thread);

  // For rows that are done in well below a millisecond.
  template <class Function>
  void each_row(const Share& share, Function function) {
    for (int64_t r = share.begin; r < share.end; ++r) {
      if ((r - share.begin) % 16 == 0 && stopped(share.thread)) return;
      function(r);
    }
  }

  // After the run.
  rc_status status() const { return status_; }
  // Throws what ended it early.
  void check() const {
    if (status_ != RC_OK) rc::fail(status_, message_);
  }

 private:
  const rc_plugin_run* run_ = nullptr;
  uint8_t* const* caches_ = nullptr;
  uint8_t* const scratch_;
  // Threads that come late read these while the next run sets them.
  std::atomic<int64_t> rows_{0}, outputs_{0}, sequences_{0};
  std::atomic<bool> stopped_{false};
  std::atomic<bool> failed_{false};
  rc_status status_ = RC_OK;
  char message_[RC_PLUGIN_MESSAGE_BYTES] = "";
  int64_t asked_ = 0;  // nanoseconds; when the caller was last asked
};

class Step {
 public:
  virtual ~Step() = default;
  // A measure of the step's work: about one per element-wise operation. 0:
  // there is nothing to do.
  virtual int64_t cost(const Run& run) const = 0;
  // In how many pieces the work comes, which may be done in any order, by any
  // threads. At least 1.
  virtual int64_t pieces(const Run& run) const = 0;
  // Threads begin with ranges of pieces that begin at a multiple of this, which
  // divides pieces().
  virtual int64_t multiple(const Run&) const { return 1; }
  // Does some pieces. Must not throw. The result does not depend on who does
  // which.
  virtual void work(Run& run, const Share& share) const = 0;

  int32_t op = 0;  // whose step it is
  std::vector<Area> reads, writes;
  // Earlier steps that this one must not run at the same time as.
  std::vector<int32_t> conflicts;
  // Pieces at most of a step that can be repeated: one by one, by several
  // threads at once, the late ones when the run is over. It reads only what
  // is the program's, and writes only within commit. 0: it cannot.
  int64_t repeatable = 0;
};

}  // namespace rc::cpu
