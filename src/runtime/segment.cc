#include "runtime/segment.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "base/time_limit.h"
#include "runtime/assignment.h"
#include "runtime/profile.h"
#include "runtime/self_test.h"
#include "tensor/plugin_arrays.h"

namespace rc::runtime {
namespace {

// The time that a run may take to stop after its limit has passed. Drivers
// compile shaders when these first run, some seconds long, and cannot be
// stopped meanwhile.
constexpr int64_t kGraceMs = 5000;

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Counts the time of a run, however it ends.
class WorkTime {
 public:
  WorkTime(const Device& device, const RunArguments& arguments,
           int64_t start_ns)
      : device_(device), times_(arguments.device_times), start_ns_(start_ns) {}
  WorkTime(const WorkTime&) = delete;
  WorkTime& operator=(const WorkTime&) = delete;
  ~WorkTime() {
    const int64_t ns = now_ns() - start_ns_;
    device_.add_work(ns);
    if (times_ == nullptr || times_->size() == times_->capacity()) return;
    times_->push_back({&device_, ns});
  }

 private:
  const Device& device_;
  std::vector<DeviceTime>* const times_;
  const int64_t start_ns_;
};

// Everything that a run with a time limit touches, so that a device that does
// not end the run reaches nothing of the caller's.
struct LimitedRun {
  std::vector<std::vector<std::byte>> inputs;
  std::vector<std::vector<std::byte>> outputs;
  std::vector<const void*> input_pointers;
  std::vector<void*> output_pointers;
  std::vector<rc_plugin_buffer*> caches;
  rc_plugin_run run = {};

  int64_t deadline_ns = 0;

  std::mutex mutex;
  bool stop = false;
  bool late = false;  // asked to stop because the time was over
  int32_t (*should_stop)(void* user) = nullptr;
  void* user = nullptr;

  void request_stop() {
    const std::lock_guard lock(mutex);
    stop = true;
  }
  static int32_t asked_to_stop(void* limited) {
    auto* self = static_cast<LimitedRun*>(limited);
    // The caller's function is not running any more once stop is set.
    const std::lock_guard lock(self->mutex);
    if (self->stop) return 1;
    if (self->should_stop != nullptr && self->should_stop(self->user) != 0) {
      return 1;
    }
    // Many devices compute within `run`: waiting for them with a time limit
    // comes too late.
    self->late = self->late || now_ns() >= self->deadline_ns;
    return self->late ? 1 : 0;
  }
  bool was_late() {
    const std::lock_guard lock(mutex);
    return late;
  }
  // On the thread that runs: the caller gets the timeout before the device
  // stops, which may be busy for long.
  void tell_caller() {
    const std::lock_guard lock(mutex);
    if (should_stop != nullptr) should_stop(user);
  }
};

// Unsupported ops are reported later, all at once; but a test needs the device,
// whose turn must not have been taken.
void test_kernels(const Device& device, const ProgramDescription& description) {
  if (!device.tests_kernels()) return;
  for (const Op& op : description.ops) {
    Message ignored;
    device.op_supported(op, description.values.data(), ignored);
  }
}

}  // namespace

std::unique_ptr<Segment> Segment::compile(
    std::shared_ptr<Device> device, ProgramDescription description,
    uint64_t scratch_bytes, const ProgramLimits& limits,
    std::vector<std::shared_ptr<Weight>> weights,
    std::vector<std::shared_ptr<Buffer>> caches) {
  test_kernels(*device, description);
  // The segment and what it holds need the turn to be destroyed: an error ends
  // the turn first.
  std::unique_ptr<Segment> segment(new Segment);
  const auto turn = device->turn();
  std::vector<std::shared_ptr<Device>> only = {device};
  assign(description, std::vector<size_t>(description.ops.size()), only, {},
         false);

  segment->device_ = device;
  segment->inputs_ = description.inputs();
  segment->outputs_ = description.outputs();
  segment->scratch_bytes_ = scratch_bytes;
  segment->weights_ = std::move(weights);
  segment->caches_ = std::move(caches);

  std::vector<rc_plugin_weight*> weight_handles;
  for (const auto& weight : segment->weights_) {
    weight_handles.push_back(weight->handle());
  }
  std::vector<rc_plugin_buffer*> cache_handles;
  for (const auto& cache : segment->caches_) {
    cache_handles.push_back(cache->handle());
  }
  const PluginArrays arrays(description.values, description.ops);
  rc_plugin_program given = {};
  given.struct_size = sizeof given;
  arrays.put_into(given);
  given.weights = weight_handles.data();
  given.weight_count = weight_handles.size();
  given.caches = cache_handles.data();
  given.cache_count = cache_handles.size();
  given.input_count = description.input_count;
  given.output_count = description.output_count;
  given.scratch_bytes = segment->scratch_bytes_;
  given.max_rows = limits.max_rows;
  given.max_outputs = limits.max_outputs;
  given.max_sequences = limits.max_sequences;
  rc_plugin_compiled* compiled = nullptr;
  Message message;
  check(*device, "compile a program", device->call_compiler([&] {
    return device->plugin().compile(device->handle(), &given, &compiled,
                                    message.buffer());
  }),
        message);
  if (compiled == nullptr) {
    fail(RC_E_DEVICE, device->id(), ": the plugin gave no compiled program");
  }
  segment->compiled_ = compiled;
  // The runs of a self-test are not the caller's.
  if (device->profile() != nullptr && !SelfTest::under_way()) {
    segment->ops_ = std::make_shared<OpList>(description);
  }
  return segment;
}

Segment::~Segment() {
  if (compiled_ == nullptr) return;
  try {
    const auto turn = device_->turn();
    device_->plugin().destroy_compiled(device_->handle(), compiled_);
  } catch (...) {
    leak_deliberately(compiled_);
  }
}

uint64_t Segment::input_bytes(size_t index, const Rows& rows) const {
  return value_bytes(inputs_[index], rows).value_or(0);
}

uint64_t Segment::output_bytes(size_t index, const Rows& rows) const {
  return value_bytes(outputs_[index], rows).value_or(0);
}

// Between the end of a run and the end of the device's turn.
void Segment::record(const RunArguments& arguments, int64_t start_ns) const {
  const rc_plugin& plugin = device_->plugin();
  if (ops_ == nullptr || plugin.op_time == nullptr) return;
  std::vector<rc_plugin_op_time> times;
  while (times.size() < ops_->size()) {
    rc_plugin_op_time time = {};
    time.struct_size = sizeof time;
    Message message;
    const rc_status status = plugin.op_time(device_->handle(), times.size(),
                                            &time, message.buffer());
    if (status == RC_E_NOT_FOUND) break;
    check(*device_, "give the time of an op", status, message);
    times.push_back(time);
  }
  device_->profile()->add(
      ops_, {arguments.rows, arguments.outputs, arguments.sequences}, start_ns,
      times);
}

rc_status Segment::begin(const rc_plugin_run& run,
                         const std::vector<rc_plugin_buffer*>& caches,
                         Message& message) const {
  const rc_plugin& plugin = device_->plugin();
  if (caches.empty()) {
    return plugin.run(device_->handle(), compiled_, &run, message.buffer());
  }
  return plugin.run_with(device_->handle(), compiled_, &run, caches.data(),
                         caches.size(), message.buffer());
}

void Segment::run(const RunArguments& arguments, TimeLimit* limit) {
  if (limit != nullptr) return run_with_limit(arguments, *limit);

  rc_plugin_run given = {};
  given.struct_size = sizeof given;
  given.rows = arguments.rows;
  given.outputs = arguments.outputs;
  given.sequences = arguments.sequences;
  given.inputs = arguments.inputs.data();
  given.outputs_data = arguments.outputs_data.data();
  given.should_stop = arguments.should_stop;
  given.user = arguments.user;
  const auto turn = device_->turn(arguments.paid);
  const int64_t start = now_ns();
  const WorkTime time(*device_, arguments, start);
  const rc_plugin& plugin = device_->plugin();
  Message message;
  check(*device_, "start a run", begin(given, arguments.caches, message),
        message);
  const rc_status status = plugin.wait(device_->handle(), -1, message.buffer());
  if (status == RC_E_TIMEOUT) {
    device_->abandon();
    fail(RC_E_DEVICE, device_->id(),
         ": the plugin gave up waiting for a run without a time limit");
  }
  check(*device_, "finish a run", status, message);
  if (arguments.spent_ns != nullptr) *arguments.spent_ns += now_ns() - start;
  record(arguments, start);
}

void Segment::run_with_limit(const RunArguments& arguments, TimeLimit& limit) {
  const Rows rows = {arguments.rows, arguments.outputs, arguments.sequences};
  auto limited = std::make_unique<LimitedRun>();
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const auto* from = static_cast<const std::byte*>(arguments.inputs[i]);
    // Never empty: a backend may refuse NULL even where nothing is read.
    auto& copy = limited->inputs.emplace_back(input_bytes(i, rows) + 1);
    if (copy.size() > 1) std::memcpy(copy.data(), from, copy.size() - 1);
    limited->input_pointers.push_back(limited->inputs.back().data());
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    limited->outputs.emplace_back(output_bytes(i, rows) + 1);
    limited->output_pointers.push_back(limited->outputs.back().data());
  }
  limited->should_stop = arguments.should_stop;
  limited->user = arguments.user;
  limited->caches = arguments.caches;
  limited->run.struct_size = sizeof limited->run;
  limited->run.rows = arguments.rows;
  limited->run.outputs = arguments.outputs;
  limited->run.sequences = arguments.sequences;
  limited->run.inputs = limited->input_pointers.data();
  limited->run.outputs_data = limited->output_pointers.data();
  limited->run.should_stop = LimitedRun::asked_to_stop;
  limited->run.user = limited.get();

  const auto turn = device_->turn(arguments.paid);
  const int64_t start = now_ns();
  const WorkTime time(*device_, arguments, start);
  limited->deadline_ns =
      start + std::min(limit.left_ms, kLongestMs) * 1'000'000;
  const rc_plugin& plugin = device_->plugin();
  const auto overdue = [&](const char* and_so) {
    fail(RC_E_TIMEOUT, device_->id(), ": a run of ", arguments.rows,
         " rows was not over after ", limit.whole_ms, " ms", and_so);
  };
  Message message;
  rc_status status = begin(limited->run, limited->caches, message);
  if (status == RC_E_CANCELLED && limited->was_late()) overdue("");
  check(*device_, "start a run", status, message);
  status = plugin.wait(device_->handle(), limit.left_ms, message.buffer());
  if (status == RC_E_TIMEOUT) {
    limited->tell_caller();
    limited->request_stop();
    const bool ended = plugin.wait(device_->handle(), kGraceMs,
                                   message.buffer()) != RC_E_TIMEOUT;
    if (!ended) {
      device_->abandon();
      leak_deliberately(
          limited.release());  // the device may still write into it
    }
    overdue(ended ? "" : "; it does not stop, so the device is given up");
  }
  if (status == RC_E_CANCELLED && limited->was_late()) overdue("");
  check(*device_, "finish a run", status, message);
  const int64_t spent_ns = now_ns() - start;
  if (arguments.spent_ns != nullptr) *arguments.spent_ns += spent_ns;
  const int64_t spent_ms = spent_ns / 1'000'000;
  limit.left_ms -= std::min(spent_ms, limit.left_ms);
  record(arguments, start);
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const uint64_t bytes = output_bytes(i, rows);
    if (bytes == 0) continue;
    std::memcpy(arguments.outputs_data[i], limited->outputs[i].data(), bytes);
  }
}

}  // namespace rc::runtime
