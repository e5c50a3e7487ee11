#include "cpu/program.h"

#include <chrono>
#include <cstdarg>
#include <cstdio>

#include "cpu/compiler.h"
#include "cpu/failure.h"

namespace rc::cpu {
namespace {

// Steps below this cost are done by one thread: about the price of a barrier.
constexpr int64_t kAloneCost = 8192;

// Between two questions to the caller whether to stop.
constexpr int64_t kAskNanoseconds = 1000 * 1000;

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

int64_t Run::rows(int64_t dimension) const {
  switch (dimension) {
    case RC_DIM_ROWS:
      return run_.rows;
    case RC_DIM_OUTPUTS:
      return run_.outputs;
    case RC_DIM_SEQUENCES:
      return run_.sequences;
    default:
      return dimension;
  }
}

void* Run::address(const Place& place) const {
  switch (place.storage) {
    case RC_STORAGE_CACHE:
      return place.memory;
    case RC_STORAGE_INPUT:
      return const_cast<void*>(run_.inputs[place.index]);
    case RC_STORAGE_OUTPUT:
      return run_.outputs_data[place.index];
    default:
      return scratch_ + place.offset;
  }
}

void Run::fail(rc_status status, const char* format, ...) {
  if (!failed_.test_and_set()) {
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(message_, sizeof(message_), format, arguments);
    va_end(arguments);
    status_ = status;
  }
  stopped_.store(true, std::memory_order_relaxed);
}

bool Run::stopped(int thread) {
  if (stopped_.load(std::memory_order_relaxed)) return true;
  if (thread == 0 && run_.should_stop != nullptr) {
    const int64_t time = now();
    if (time - asked_ >= kAskNanoseconds) {
      asked_ = time;
      if (run_.should_stop(run_.user) != 0) {
        fail(RC_E_CANCELLED, "stopped by the caller");
      }
    }
  }
  return stopped_.load(std::memory_order_relaxed);
}

}  // namespace rc::cpu

using rc::cpu::Pool;
using rc::cpu::Run;
using rc::cpu::Step;

rc_plugin_compiled::rc_plugin_compiled(const rc_plugin_program& program,
                                       const rc::cpu::Kernels& kernels,
                                       int threads, bool profile)
    : kernels_(kernels),
      max_rows_(program.max_rows),
      max_outputs_(program.max_outputs),
      max_sequences_(program.max_sequences),
      inputs_used_(program.input_count),
      outputs_used_(program.output_count) {
  rc::cpu::Compiler compiler(program, *this, threads);
  scratch_ = rc::cpu::allocate(program.scratch_bytes);
  compiler.compile();
  modes_.resize(steps_.size());
  barriers_.resize(steps_.size());
  if (profile) {
    for (const auto& step : steps_) {
      if (op_times_.empty() || op_times_.back().op != step->op) {
        op_times_.push_back({step->op, 0, 0, 0});
      }
    }
  }
  for (const auto& step : steps_) {
    for (const auto* areas : {&step->reads, &step->writes}) {
      for (const rc::cpu::Area& area : *areas) {
        if (area.kind == rc::cpu::Area::kInput) inputs_used_[area.index] = 1;
        if (area.kind == rc::cpu::Area::kOutput) outputs_used_[area.index] = 1;
      }
    }
  }
}

void rc_plugin_compiled::check(const rc_plugin_run& run) const {
  const auto require = [](int64_t number, int64_t least, int64_t most,
                          const char* what) {
    if (number < least || number > most) {
      rc::cpu::fail(RC_E_INVALID_ARGUMENT,
                    "the run has %lld %s; the program takes %lld to %lld",
                    static_cast<long long>(number), what,
                    static_cast<long long>(least),
                    static_cast<long long>(most));
    }
  };
  if (run.struct_size < sizeof(rc_plugin_run)) {
    rc::cpu::fail(RC_E_INVALID_ARGUMENT, "the run has %zu bytes instead of %zu",
                  run.struct_size, sizeof(rc_plugin_run));
  }
  require(run.rows, 0, max_rows_, "rows");
  require(run.outputs, 0, max_outputs_, "outputs");
  require(run.sequences, 0, max_sequences_, "sequences");
  for (size_t i = 0; i < inputs_used_.size(); ++i) {
    if (inputs_used_[i] &&
        (run.inputs == nullptr || run.inputs[i] == nullptr)) {
      rc::cpu::fail(RC_E_INVALID_ARGUMENT, "input %zu of the run is NULL", i);
    }
  }
  for (size_t i = 0; i < outputs_used_.size(); ++i) {
    if (outputs_used_[i] &&
        (run.outputs_data == nullptr || run.outputs_data[i] == nullptr)) {
      rc::cpu::fail(RC_E_INVALID_ARGUMENT, "output %zu of the run is NULL", i);
    }
  }
}

void rc_plugin_compiled::plan(const Run& run, int threads) {
  int32_t last_barrier = 0;  // the first step after it
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = *steps_[i];
    const int64_t cost = step.cost(run);
    modes_[i] = cost == 0                                    ? Mode::kNothing
                : threads == 1 || cost < rc::cpu::kAloneCost ? Mode::kAlone
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

// The times of the ops are as thread 0 sees it: an op lasts until the next one
// begins, so that waiting for the other threads is its part.
void rc_plugin_compiled::walk(Pool& pool, Run& run, int thread) {
  rc_plugin_op_time* time = thread == 0 ? op_times_.data() : nullptr;
  for (size_t i = 0; i < steps_.size(); ++i) {
    // All threads pass all barriers, also once the run has stopped.
    if (barriers_[i]) pool.barrier();
    if (time != nullptr && (i == 0 || steps_[i]->op != steps_[i - 1]->op)) {
      time->begin_ns = rc::cpu::now();
      if (i > 0) time[-1].end_ns = time->begin_ns;
      ++time;
    }
    if (run.stopped(thread)) continue;
    if (modes_[i] == Mode::kTogether) {
      steps_[i]->work(run, thread, pool.threads());
    } else if (modes_[i] == Mode::kAlone && thread == 0) {
      steps_[i]->work(run, 0, 1);
    }
  }
}

rc_status rc_plugin_compiled::run(Pool& pool, const rc_plugin_run& run,
                                  char* message) {
  check(run);
  Run state(run, scratch_.get(), kernels_);
  plan(state, pool.threads());
  for (const auto& shares : shares_) shares->reset();
  struct Job {
    rc_plugin_compiled* program;
    Pool* pool;
    Run* run;
  } job{this, &pool, &state};
  pool.run(
      [](void* data, int thread) {
        const Job& j = *static_cast<const Job*>(data);
        j.program->walk(*j.pool, *j.run, thread);
      },
      &job);
  if (!op_times_.empty()) op_times_.back().end_ns = rc::cpu::now();
  if (state.status() != RC_OK) {
    std::snprintf(message, RC_PLUGIN_MESSAGE_BYTES, "%s", state.message());
  }
  return state.status();
}
