// A graph as graph.h of the C ABI has it: recorded, ended, run. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "compute/graph_recording.h"
#include "compute/graph_stages.h"

namespace rc::compute {

class Graph {
 public:
  explicit Graph(std::shared_ptr<Context> context);
  // Tensors that were recorded may outlive it.
  ~Graph() { recording_->end(); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // The next input.
  Tensor input(DType dtype, const Shape& shape);
  // Compiles. After a failure the graph still records.
  void end(std::span<const Tensor> outputs);

  struct Limits {
    int64_t deadline_ms = 0;  // 0: none
    // Whether the run is to end early; may be empty. Called by any thread.
    bool (*stop)(void* user) = nullptr;
    void* user = nullptr;
    int64_t* spent_ns = nullptr;  // of the devices, added; may be nullptr
  };
  // Throws RC_E_INVALID_ARGUMENT for inputs that do not fit, RC_E_CANCELLED,
  // RC_E_TIMEOUT.
  std::vector<Tensor> run(std::span<const Tensor> inputs, const Limits& limits);
  // Throws what run would throw of these inputs; gives them dense.
  std::vector<Tensor> check_inputs(std::span<const Tensor> inputs) const;
  // Cancels the runs that are under way.
  void cancel() noexcept { ++cancels_; }
  // Returns the number of cancellations so far, for the next run.
  uint64_t cancels() const { return cancels_; }

  const std::shared_ptr<Context>& context() const {
    return recording_->context();
  }
  size_t output_count() const;
  struct Size {
    size_t inputs = 0, outputs = 0;
    size_t recorded_ops = 0;
    size_t ops = 0;
    uint64_t memory = 0;
  };
  // Once it has been ended.
  Size size() const;

 private:
  struct Input {
    DType dtype;
    Shape shape;
  };
  struct Output {
    Tensor tensor;    // as it was recorded, or what it always is
    int result = -1;  // its number among the program's; -1: it always is that
  };

  // Throws unless the graph has been ended.
  void need_ended() const;

  const std::shared_ptr<GraphRecording> recording_;
  mutable std::mutex mutex_;  // of the inputs, and of ending
  std::vector<Input> inputs_;
  // From the end on these do not change.
  std::atomic<bool> ended_{false};
  std::vector<Output> outputs_;
  std::unique_ptr<GraphStages> program_;
  size_t recorded_ops_ = 0;
  std::atomic<uint64_t> cancels_{0};
};

}  // namespace rc::compute
