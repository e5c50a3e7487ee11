#include "compute/graph.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/error.h"
#include "base/time_limit.h"
#include "compute/ops.h"

namespace rc::compute {
namespace {

// Says when a run is to end early, and why.
struct Watch {
  const Graph::Limits& limits;
  const std::atomic<uint64_t>& cancels;
  const uint64_t cancels_before;
  const std::chrono::steady_clock::time_point end;

  bool late() const {
    return limits.deadline_ms > 0 && std::chrono::steady_clock::now() >= end;
  }
  bool cancelled() const {
    return cancels != cancels_before ||
           (limits.stop != nullptr && limits.stop(limits.user));
  }
  static int32_t should_stop(void* user) {
    const auto* watch = static_cast<const Watch*>(user);
    return watch->cancelled() || watch->late() ? 1 : 0;
  }
  void check() const {
    if (cancelled()) fail(RC_E_CANCELLED, "the run of a graph was cancelled");
    if (late()) {
      fail(RC_E_TIMEOUT, "the run of a graph was not over after ",
           limits.deadline_ms, " ms");
    }
  }
};

}  // namespace

Graph::Graph(std::shared_ptr<Context> context)
    : recording_(std::make_shared<GraphRecording>(std::move(context))) {}

Tensor Graph::input(DType dtype, const Shape& shape) {
  const uint64_t bytes = check_shape(dtype, shape);
  const std::lock_guard lock(mutex_);
  if (ended_) {
    fail(RC_E_INVALID_ARGUMENT,
         "the graph has been ended; inputs come before that");
  }
  // One without elements has no memory to stand for.
  Tensor tensor = bytes == 0 ? make_tensor(context(), dtype, shape)
                             : recording_->input(dtype, shape, inputs_.size());
  inputs_.push_back({dtype, shape});
  return tensor;
}

void Graph::end(std::span<const Tensor> outputs) {
  const std::lock_guard lock(mutex_);
  if (ended_) fail(RC_E_INVALID_ARGUMENT, "the graph has been ended before");
  std::vector<int32_t> results;
  std::vector<Output> wanted;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& output = outputs[i];
    if (output.outline()) {
      fail(RC_E_INVALID_ARGUMENT, "outputs[", i,
           "] is an outline and has no numbers");
    }
    if (!output.recorded()) {
      wanted.push_back({output, -1});
      continue;
    }
    if (output.storage->recording() != recording_) {
      fail(RC_E_INVALID_ARGUMENT, "outputs[", i,
           "] was recorded in another graph");
    }
    // A result that is all of what an op makes needs no copy.
    Tensor result = dense(output);
    const bool again = std::find(results.begin(), results.end(),
                                 result.storage->base()) != results.end();
    if (again || !recording_->is_result(result)) result = copy(result);
    wanted.push_back({result, static_cast<int>(results.size())});
    results.push_back(result.storage->base());
  }
  Recorded recorded = recording_->recorded();
  recorded_ops_ = recorded.ops.size();
  program_ =
      std::make_unique<GraphStages>(context(), std::move(recorded), results);
  // Of what was recorded only types and shapes are left.
  for (Output& output : wanted) {
    if (output.result >= 0) output.tensor.storage = nullptr;
  }
  outputs_ = std::move(wanted);
  recording_->end();
  ended_ = true;
}

void Graph::need_ended() const {
  if (!ended_) {
    fail(RC_E_INVALID_ARGUMENT,
         "the graph is still being recorded; end it before it is run");
  }
}

size_t Graph::output_count() const {
  need_ended();
  return outputs_.size();
}

Graph::Size Graph::size() const {
  need_ended();
  return {inputs_.size(), outputs_.size(), recorded_ops_, program_->op_count(),
          program_->memory()};
}

std::vector<Tensor> Graph::check_inputs(std::span<const Tensor> inputs) const {
  need_ended();
  if (inputs.size() != inputs_.size()) {
    fail(RC_E_INVALID_ARGUMENT, "a run with ", inputs.size(),
         " inputs of a graph with ", inputs_.size());
  }
  std::vector<Tensor> found;
  found.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& given = inputs[i];
    const Input& wanted = inputs_[i];
    if (given.dtype != wanted.dtype || given.shape != wanted.shape) {
      fail(RC_E_INVALID_ARGUMENT, "inputs[", i, "] is ", given.text(),
           ", but was recorded as ", dtype_name(wanted.dtype), " ",
           shape_text(wanted.shape));
    }
    if (given.recorded()) {
      fail(RC_E_INVALID_ARGUMENT, "inputs[", i,
           "] was recorded in a graph and has no numbers");
    }
    if (given.outline()) {
      fail(RC_E_INVALID_ARGUMENT, "inputs[", i,
           "] is an outline and has no numbers");
    }
    if (context()->placement() != nullptr &&
        given.context->placement() == context()->placement()) {
      found.push_back(move(given, context()));
      continue;
    }
    if (given.context->device() != context()->device()) {
      fail(RC_E_INVALID_ARGUMENT, "inputs[", i, "] lives on ",
           given.context->device()->id(), ", the graph runs on ",
           given.context->device()->id() == context()->device()->id()
               ? "another opening of it"
               : context()->device()->id());
    }
    found.push_back(given);
  }
  return found;
}

std::vector<Tensor> Graph::run(std::span<const Tensor> inputs,
                               const Limits& limits) {
  Watch watch = {limits, cancels_, cancels_, time_after(limits.deadline_ms)};
  std::vector<Tensor> given = check_inputs(inputs);
  for (Tensor& input : given) {
    if (input.empty()) continue;
    input = dense(input);
    if (input.offset != 0) input = copy(input);
  }
  std::vector<Tensor> outputs;
  std::vector<Tensor> results;
  outputs.reserve(outputs_.size());
  results.reserve(outputs_.size());
  for (const Output& output : outputs_) {
    outputs.push_back(
        output.result < 0
            ? output.tensor
            : make_result(context(), output.tensor.dtype, output.tensor.shape));
    if (output.result >= 0) results.push_back(outputs.back());
  }
  watch.check();
  runtime::RunArguments arguments;
  arguments.should_stop = Watch::should_stop;
  arguments.user = &watch;
  arguments.spent_ns = limits.spent_ns;
  try {
    program_->run(given, results, arguments, context()->timeout_ms());
  } catch (const Error& error) {
    if (error.status() == RC_E_CANCELLED) watch.check();
    throw;
  }
  return outputs;
}

}  // namespace rc::compute
