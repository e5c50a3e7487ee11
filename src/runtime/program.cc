#include "runtime/program.h"

#include <cstring>
#include <mutex>
#include <utility>

#include "base/error.h"

namespace rc::runtime {
namespace {

// How long a run may take to heed the request to stop after its time is over.
constexpr int64_t kGraceMs = 1000;

std::vector<rc_plugin_value> by_index(const ProgramDescription& description,
                                      int storage, size_t count) {
  std::vector<rc_plugin_value> found(count);
  for (const rc_plugin_value& value : description.values) {
    if (value.storage == storage) found.at(value.index) = value;
  }
  return found;
}

// Throws with every op that the device lacks, and why.
void check_support(const Device& device,
                   const ProgramDescription& description) {
  std::string missing;
  std::string last;
  for (const rc_plugin_op& op : description.ops) {
    Message message;
    const rc_status status =
        device.op_supported(op, description.values.data(), message);
    if (status == RC_OK) continue;
    if (status != RC_E_UNSUPPORTED) {
      check(device, cat("tell whether it supports ", op_name(op.code)).c_str(),
            status, message);
    }
    // The layers of a model have the same ops: each reason once.
    std::string reason = cat(op_name(op.code), " (", message.text(), ")");
    if (reason == last || missing.find(reason) != std::string::npos) continue;
    if (!missing.empty()) missing += ", ";
    missing += reason;
    last = std::move(reason);
  }
  if (!missing.empty()) {
    fail(RC_E_UNSUPPORTED, device.id(),
         " cannot run this program; it lacks: ", missing,
         ". Choose another backend");
  }
}

void check_count(const char* what, int64_t count, int64_t limit) {
  if (count < 0 || count > limit) {
    fail(RC_E_INVALID_ARGUMENT, "a run of ", count, " ", what,
         "; the program was compiled for 0 to ", limit);
  }
}

// Everything that a run with a time limit touches, so that a device that does
// not end the run reaches nothing of the caller's.
struct Flight {
  std::vector<std::vector<std::byte>> inputs;
  std::vector<std::vector<std::byte>> outputs;
  std::vector<const void*> input_pointers;
  std::vector<void*> output_pointers;
  rc_plugin_run run = {};

  std::mutex mutex;
  bool stop = false;
  int32_t (*should_stop)(void* user) = nullptr;
  void* user = nullptr;

  void request_stop() {
    const std::lock_guard lock(mutex);
    stop = true;
  }
  static int32_t asked_to_stop(void* flight) {
    auto* self = static_cast<Flight*>(flight);
    // The caller's function is not running any more once stop is set.
    const std::lock_guard lock(self->mutex);
    if (self->stop) return 1;
    return self->should_stop == nullptr ? 0 : self->should_stop(self->user);
  }
};

}  // namespace

std::unique_ptr<Program> Program::compile(
    std::shared_ptr<Device> device, ProgramDescription description,
    const ProgramLimits& limits, std::vector<std::shared_ptr<Weight>> weights,
    std::vector<std::shared_ptr<Buffer>> caches) {
  if (weights.size() != description.weights.size() ||
      caches.size() != description.caches.size()) {
    fail(RC_E_INVALID_ARGUMENT, "a program of ", description.weights.size(),
         " weights and ", description.caches.size(), " caches was given ",
         weights.size(), " and ", caches.size());
  }
  const auto turn = device->turn();
  check_support(*device, description);

  std::unique_ptr<Program> program(new Program);
  program->device_ = device;
  program->limits_ = limits;
  program->inputs_ =
      by_index(description, RC_STORAGE_INPUT, description.input_count);
  program->outputs_ =
      by_index(description, RC_STORAGE_OUTPUT, description.output_count);
  program->scratch_bytes_ = plan_scratch(description, limits);
  program->weights_ = std::move(weights);
  program->caches_ = std::move(caches);

  std::vector<rc_plugin_weight*> weight_handles;
  for (const auto& weight : program->weights_) {
    weight_handles.push_back(weight->handle());
  }
  std::vector<rc_plugin_buffer*> cache_handles;
  for (const auto& cache : program->caches_) {
    cache_handles.push_back(cache->handle());
  }
  rc_plugin_program given = {};
  given.struct_size = sizeof given;
  given.values = description.values.data();
  given.value_count = description.values.size();
  given.ops = description.ops.data();
  given.op_count = description.ops.size();
  given.weights = weight_handles.data();
  given.weight_count = weight_handles.size();
  given.caches = cache_handles.data();
  given.cache_count = cache_handles.size();
  given.input_count = description.input_count;
  given.output_count = description.output_count;
  given.scratch_bytes = program->scratch_bytes_;
  given.max_rows = limits.max_rows;
  given.max_outputs = limits.max_outputs;
  given.max_sequences = limits.max_sequences;
  rc_plugin_compiled* compiled = nullptr;
  Message message;
  check(*device, "compile a program",
        device->plugin().compile(device->handle(), &given, &compiled,
                                 message.buffer()),
        message);
  if (compiled == nullptr) {
    fail(RC_E_DEVICE, device->id(), ": the plugin gave no compiled program");
  }
  program->compiled_ = compiled;
  return program;
}

Program::~Program() {
  if (compiled_ == nullptr) return;
  try {
    const auto turn = device_->turn();
    device_->plugin().destroy_compiled(device_->handle(), compiled_);
  } catch (...) {
    bury(compiled_);
  }
}

uint64_t Program::input_bytes(size_t index, const Rows& rows) const {
  return value_bytes(inputs_[index], rows).value_or(0);
}

uint64_t Program::output_bytes(size_t index, const Rows& rows) const {
  return value_bytes(outputs_[index], rows).value_or(0);
}

void Program::run(const RunArguments& arguments, int64_t timeout_ms) {
  check_count("rows", arguments.rows, limits_.max_rows);
  check_count("outputs", arguments.outputs, limits_.max_outputs);
  check_count("sequences", arguments.sequences, limits_.max_sequences);
  if (arguments.inputs.size() != inputs_.size() ||
      arguments.outputs_data.size() != outputs_.size()) {
    fail(RC_E_INVALID_ARGUMENT, "a run with ", arguments.inputs.size(),
         " inputs and ", arguments.outputs_data.size(),
         " outputs of a program with ", inputs_.size(), " and ",
         outputs_.size());
  }
  const Rows rows = {arguments.rows, arguments.outputs, arguments.sequences};
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (arguments.inputs[i] == nullptr && input_bytes(i, rows) > 0) {
      fail(RC_E_INVALID_ARGUMENT, "input ", i, " of a run is NULL");
    }
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (arguments.outputs_data[i] == nullptr && output_bytes(i, rows) > 0) {
      fail(RC_E_INVALID_ARGUMENT, "output ", i, " of a run is NULL");
    }
  }
  if (timeout_ms >= 0) return run_with_limit(arguments, timeout_ms);

  rc_plugin_run given = {};
  given.struct_size = sizeof given;
  given.rows = arguments.rows;
  given.outputs = arguments.outputs;
  given.sequences = arguments.sequences;
  given.inputs = arguments.inputs.data();
  given.outputs_data = arguments.outputs_data.data();
  given.should_stop = arguments.should_stop;
  given.user = arguments.user;
  const auto turn = device_->turn();
  const rc_plugin& plugin = device_->plugin();
  Message message;
  check(*device_, "start a run",
        plugin.run(device_->handle(), compiled_, &given, message.buffer()),
        message);
  const rc_status status = plugin.wait(device_->handle(), -1, message.buffer());
  if (status == RC_E_TIMEOUT) {
    device_->abandon();
    fail(RC_E_DEVICE, device_->id(),
         ": the plugin gave up waiting for a run without a time limit");
  }
  check(*device_, "finish a run", status, message);
}

void Program::run_with_limit(const RunArguments& arguments,
                             int64_t timeout_ms) {
  const Rows rows = {arguments.rows, arguments.outputs, arguments.sequences};
  auto flight = std::make_unique<Flight>();
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const auto* from = static_cast<const std::byte*>(arguments.inputs[i]);
    flight->inputs.emplace_back(from, from + input_bytes(i, rows));
    flight->input_pointers.push_back(flight->inputs.back().data());
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    flight->outputs.emplace_back(output_bytes(i, rows));
    flight->output_pointers.push_back(flight->outputs.back().data());
  }
  flight->should_stop = arguments.should_stop;
  flight->user = arguments.user;
  flight->run.struct_size = sizeof flight->run;
  flight->run.rows = arguments.rows;
  flight->run.outputs = arguments.outputs;
  flight->run.sequences = arguments.sequences;
  flight->run.inputs = flight->input_pointers.data();
  flight->run.outputs_data = flight->output_pointers.data();
  flight->run.should_stop = Flight::asked_to_stop;
  flight->run.user = flight.get();

  const auto turn = device_->turn();
  const rc_plugin& plugin = device_->plugin();
  Message message;
  check(
      *device_, "start a run",
      plugin.run(device_->handle(), compiled_, &flight->run, message.buffer()),
      message);
  rc_status status =
      plugin.wait(device_->handle(), timeout_ms, message.buffer());
  if (status == RC_E_TIMEOUT) {
    flight->request_stop();
    const bool ended = plugin.wait(device_->handle(), kGraceMs,
                                   message.buffer()) != RC_E_TIMEOUT;
    if (!ended) {
      device_->abandon();
      bury(flight.release());  // the device may still write into it
    }
    fail(RC_E_TIMEOUT, device_->id(), ": a run of ", arguments.rows,
         " rows was not over after ", timeout_ms, " ms",
         ended ? "" : "; it does not stop, so the device is given up");
  }
  check(*device_, "finish a run", status, message);
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (flight->outputs[i].empty()) continue;
    std::memcpy(arguments.outputs_data[i], flight->outputs[i].data(),
                flight->outputs[i].size());
  }
}

}  // namespace rc::runtime
