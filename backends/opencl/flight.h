// A run under way: the steps of a program, enqueued portion by portion.
//
// Portions are cut so that each takes about ten milliseconds, by what earlier
// ones took; between them the caller is asked whether to stop. One portion is
// enqueued ahead of the one that is being done, so that the device does not
// wait. Used by the thread that uses the device.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "opencl/device.h"
#include "opencl/program.h"

namespace rc::opencl {

// Products per nanosecond, as portions went so far; kept between runs.
struct Pace {
  double products_per_ns = 1;
};

class Flight {
 public:
  // Enqueues the inputs and the first portions. Throws for what is wrong with
  // the run; then nothing is under way.
  Flight(Device& device, rc_plugin_compiled& program, const rc_plugin_run& run,
         Pace& pace);
  // Waits for what is under way: the caller's memory is free afterwards.
  ~Flight();

  // Goes on with the run. False: not over at the deadline. Throws the run's
  // failure, RC_E_CANCELLED among them.
  using Clock = std::chrono::steady_clock;
  bool finish(std::optional<Clock::time_point> deadline);

  // After the end of a run of a device with profile.
  std::vector<rc_plugin_op_time> op_times() const;

 private:
  struct Portion {
    Event end;
    uint64_t cost;
    bool whole;  // not cut short by the program's end
  };
  struct Launch {
    int32_t op;
    Event event;
  };
  // Wakes a waiting thread when an event comes to its end.
  struct Bell;

  void enqueue_inputs();
  void enqueue_portion();
  // Part of a step worth at most about `cost`; returns what it is worth.
  uint64_t enqueue_some(uint64_t cost);
  void enqueue_range(const Step& step, const Range& range, const size_t* begin,
                     const size_t* count);
  void enqueue_outputs();
  uint64_t row_cost(const Step& step) const;
  bool wait_for(cl_event event, std::optional<Clock::time_point> deadline);

  Device& device_;
  rc_plugin_compiled& program_;
  const rc_plugin_run& run_;
  Pace& pace_;
  Rows rows_;
  cl_int counts_[3];
  uint64_t positions_ = 1;  // the most that attention sees in this run
  size_t step_ = 0;         // the next
  size_t block_ = 0;        // of its rows
  bool outputs_enqueued_ = false;
  bool stopped_ = false;
  bool over_ = false;
  std::deque<Portion> portions_;
  Clock::time_point last_end_;
  std::vector<Launch> launches_;  // with profile
};

}  // namespace rc::opencl
