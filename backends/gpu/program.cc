#include "gpu/program.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "gpu/weight.h"

namespace rc::gpu {
namespace {

// A portion takes about so long.
constexpr double kPortionSeconds = 0.01;
// One that took so long shows how fast the device is.
constexpr double kMinTimedSeconds = 0.002;
const plugin::GivenProgram& checked(const plugin::GivenProgram& program) {
  program.check(
      [](const rc_plugin_weight* handle) -> plugin::WeightShape {
        const auto* weight = reinterpret_cast<const Weight*>(handle);
        return {weight->dtype, weight->shape};
      },
      [](const rc_plugin_buffer* handle) {
        return reinterpret_cast<const Buffer*>(handle)->bytes();
      });
  return program;
}

}  // namespace

Program::Program(Device& device, const plugin::GivenProgram& program)
    : device_(device), ops_(checked(program).ops), placement_(device, program) {
  cache_bytes_.resize(program.caches.size());
  for (const Placed& placed : placement_.values()) {
    if (placed.value.storage != RC_STORAGE_CACHE) continue;
    uint64_t& bytes = cache_bytes_[placed.value.index];
    bytes = std::max(bytes, placed.region.offset + placed.region.bytes);
  }
  for (const Op& op : ops_) {
    of_tensors_ = of_tensors_ && is_tensor_op(op, program.values);
    device.check_supported(op, program.values);
    if (op.code != RC_OP_ATTENTION && op.code != RC_OP_GENERAL_ATTENTION) {
      continue;
    }
    const rc_plugin_value& positions = program.values[op.inputs[3]];
    if (positions.storage == RC_STORAGE_INPUT) positions_ = positions.index;
  }
  for (size_t i = 0; i < ops_.size(); ++i) {
    append_dispatches(device, ops_[i], static_cast<int32_t>(i),
                      placement_.values(), placement_.limits(), &dispatches_,
                      &kept_);
  }
  find_waits(dispatches_);
  recording_ = device.record({ops_.size(), placement_.values(), dispatches_});
}

Program::~Program() {
  if (run_ != nullptr) abandon();
}

RunSize Program::size_of(const rc_plugin_run& run) const {
  RunSize size = {{run.rows, run.outputs, run.sequences}};
  if (positions_ < 0) return size;
  const auto* positions = static_cast<const int32_t*>(run.inputs[positions_]);
  for (int64_t row = 0; row < run.rows; ++row) {
    size.positions = std::max<int64_t>(size.positions, positions[row] + 1L);
  }
  return size;
}

void Program::check_idle() const {
  if (run_ != nullptr) {
    fail(RC_E_INVALID_ARGUMENT, "a run of this program is under way");
  }
}

void Program::start_with(const rc_plugin_run& run,
                         std::span<Buffer* const> caches) {
  check_idle();
  if (!of_tensors_ || caches.size() != cache_bytes_.size()) {
    fail(RC_E_INVALID_ARGUMENT, "a run with ", caches.size(),
         " caches of a program with ", cache_bytes_.size(),
         of_tensors_ ? "" : " and ops of more than tensors");
  }
  for (size_t i = 0; i < caches.size(); ++i) {
    if (caches[i]->bytes() < cache_bytes_[i]) {
      fail(RC_E_INVALID_ARGUMENT, "cache ", i, " of the run has ",
           caches[i]->bytes(), " bytes; the program was compiled for ",
           cache_bytes_[i]);
    }
  }
  bind(caches);
  start(run);
}

void Program::bind(std::span<Buffer* const> caches) {
  std::vector<uint64_t> numbers;
  for (const Buffer* cache : caches) numbers.push_back(cache->number());
  if (numbers == bound_) return;
  bound_.clear();  // until all of it is done
  for (Dispatch& dispatch : dispatches_) {
    for (Binding& binding : dispatch.bindings) {
      Region& region = binding.region;
      if (region.cache >= 0) region.buffer = caches[region.cache];
    }
  }
  find_waits(dispatches_);
  recording_->rebind();
  bound_ = std::move(numbers);
}

void Program::start(const rc_plugin_run& run) {
  check_idle();
  const std::vector<Transfer> inputs = placement_.inputs(run);
  outputs_ = placement_.outputs(run);
  op_times_.clear();
  stopping_ = false;
  oldest_ = 0;
  run_ = &run;
  try {
    recording_->begin(size_of(run), inputs, outputs_);
    submit_more();
  } catch (...) {
    abandon();
    throw;
  }
}

// Fills the portions that are free.
void Program::submit_more() {
  for (int i = 0; i < 2; ++i) {
    const int number = (oldest_ + i) % 2;
    Portion& portion = portions_[number];
    if (portion.under_way || stopping_ || recording_->submitted()) continue;
    portion.begin = Clock::now();
    portion.work = recording_->submit(number, device_.speed * kPortionSeconds);
    portion.under_way = true;
  }
}

void Program::ask_to_stop() {
  if (stopping_ || run_->should_stop == nullptr ||
      run_->should_stop(run_->user) == 0) {
    return;
  }
  stopping_ = true;
  recording_->stop();
}

void Program::end_portion() {
  Portion& portion = portions_[oldest_];
  portion.under_way = false;
  const auto now = Clock::now();
  const std::chrono::duration<double> took = now - portion.begin;
  // Of a short portion most is the way there and back: the device is at least
  // as fast.
  const double speed = portion.work / std::max(took.count(), 1e-6);
  if (portion.work > 0 && !stopping_ &&
      (took.count() > kMinTimedSeconds || speed > device_.speed)) {
    device_.speed = 0.5 * device_.speed + 0.5 * speed;
  }
  oldest_ = 1 - oldest_;
  // The other one began to run only now.
  portions_[oldest_].begin = now;
}

bool Program::wait(int64_t timeout_ms) {
  if (run_ == nullptr) {
    fail(RC_E_INVALID_ARGUMENT, "no run is under way");
  }
  // A limit beyond a day is none to a clock that counts nanoseconds.
  constexpr int64_t kDay = 24 * 3600 * 1000;
  const bool limited = timeout_ms >= 0 && timeout_ms < kDay;
  const auto deadline =
      Clock::now() + std::chrono::milliseconds(limited ? timeout_ms : 0);
  try {
    for (;;) {
      ask_to_stop();
      submit_more();
      if (!portions_[oldest_].under_way) break;
      int64_t ms = -1;
      if (limited) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                              deadline - Clock::now())
                              .count();
        ms = std::max<int64_t>(left, 0);
      }
      if (recording_->wait(oldest_, ms)) {
        end_portion();
      } else if (limited && Clock::now() >= deadline) {
        return false;
      }
    }
    if (stopping_) fail(RC_E_CANCELLED, "the run was cancelled");
    check_fault();
    recording_->finish();
    op_times_ = recording_->op_times();
  } catch (...) {
    abandon();
    throw;
  }
  run_ = nullptr;
  return true;
}

void Program::check_fault() const {
  const Fault fault = recording_->fault();
  if (fault.op_after == 0) return;
  const Op& op = ops_[fault.op_after - 1];
  fail(RC_E_INVALID_ARGUMENT, op_name(op.code), ": row ", fault.row,
       " asks for number ", static_cast<int32_t>(fault.number),
       " of a table of ", placement_.values()[op.inputs[0]].value.shape[0]);
}

void Program::abandon() noexcept {
  recording_->wait_idle();
  for (Portion& portion : portions_) portion.under_way = false;
  run_ = nullptr;
}

}  // namespace rc::gpu
