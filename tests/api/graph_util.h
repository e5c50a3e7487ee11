// Graphs for tests.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "runcible/graph.h"
#include "tensor_util.h"

namespace rc::test {

inline Shape shape_of(rc_tensor* tensor) {
  int64_t shape[RC_TENSOR_MAX_RANK];
  int32_t rank = 0;
  EXPECT_OK(rc_tensor_shape(tensor, shape, &rank));
  return Shape(shape, shape + rank);
}

// FNV-1a of the bytes.
inline uint64_t hash_of(rc_tensor* tensor) {
  uint64_t hash = 14695981039346656037u;
  for (const std::byte byte : bytes_of(tensor)) {
    hash = (hash ^ static_cast<uint64_t>(byte)) * 1099511628211u;
  }
  return hash;
}

class RecordedGraph {
 public:
  explicit RecordedGraph(rc_backend* backend) {
    EXPECT_OK(rc_graph_begin(backend, &graph_));
  }
  ~RecordedGraph() { rc_graph_release(graph_); }
  RecordedGraph(const RecordedGraph&) = delete;
  RecordedGraph& operator=(const RecordedGraph&) = delete;

  rc_graph* get() const { return graph_; }
  // Lives as long as this.
  rc_tensor* input(const Shape& shape, rc_dtype dtype = RC_DTYPE_F32) {
    rc_tensor* tensor = nullptr;
    EXPECT_OK(rc_graph_input(graph_, dtype, shape.data(),
                             static_cast<int32_t>(shape.size()), &tensor));
    inputs_.emplace_back(tensor);
    return tensor;
  }
  void end(std::vector<Tensor> outputs) {
    std::vector<rc_tensor*> handles;
    for (const Tensor& output : outputs) handles.push_back(output.get());
    EXPECT_OK(rc_graph_end(graph_, handles.data(), handles.size()));
    outputs_ = handles.size();
  }
  std::vector<Tensor> run(const std::vector<rc_tensor*>& inputs) {
    std::vector<rc_tensor*> found(outputs_);
    EXPECT_OK(rc_graph_run(graph_, inputs.data(), inputs.size(), nullptr,
                           found.data(), found.size()));
    std::vector<Tensor> outputs;
    for (rc_tensor* output : found) outputs.emplace_back(output);
    return outputs;
  }

 private:
  rc_graph* graph_ = nullptr;
  std::vector<Tensor> inputs_;
  size_t outputs_ = 0;
};

}  // namespace rc::test
