// The handle of a graph.
#pragma once

#include <memory>
#include <vector>

#include "api/handle.h"
#include "api/handle_account.h"
#include "compute/graph.h"
#include "runcible/graph.h"

struct rc_graph {
  static constexpr rc::api::Kind kKind = rc::api::Kind::kGraph;

  const std::shared_ptr<rc::compute::Graph> graph;
  const std::shared_ptr<rc::api::HandleAccount> account;
};

namespace rc::api {

// The arguments of rc_graph_run, checked; it outlives handles.
class GraphRun {
 public:
  GraphRun(rc_graph* graph, rc_tensor* const* inputs, size_t input_count,
           const rc_graph_run_options* options);

  // `stop` may be empty.
  std::vector<compute::Tensor> run(bool (*stop)(void* user), void* user) const;

  const compute::Graph& graph() const { return *graph_; }
  const std::shared_ptr<HandleAccount>& account() const { return account_; }

 private:
  std::shared_ptr<compute::Graph> graph_;
  std::shared_ptr<HandleAccount> account_;
  std::vector<compute::Tensor> inputs_;
  int64_t deadline_ms_;
};

// Handles of new tensors; none if one of them cannot be made.
std::vector<rc_tensor*> add_tensors(std::vector<compute::Tensor> tensors);

}  // namespace rc::api
