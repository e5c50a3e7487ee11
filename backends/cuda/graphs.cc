#include "cuda/graphs.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace rc::cuda {
namespace {

constexpr size_t kMost = 8;

}  // namespace

GraphExec Graphs::captured(const std::function<void()>& launch_all) {
  // Other threads may call the driver meanwhile.
  check(api().StreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_RELAXED),
        "cuStreamBeginCapture");
  CUgraph made = nullptr;
  try {
    launch_all();
  } catch (...) {
    // Only this ends the capture.
    if (api().StreamEndCapture(stream_, &made) == CUDA_SUCCESS) {
      static_cast<void>(api().GraphDestroy(made));
    }
    throw;
  }
  check(api().StreamEndCapture(stream_, &made), "cuStreamEndCapture");
  const Graph graph(context_, made);
  CUgraphExec exec = nullptr;
  check(api().GraphInstantiate(&exec, graph.get(), 0), "cuGraphInstantiate");
  return {context_, exec};
}

bool Graphs::launch(const Rows& rows, const std::function<void()>& launch_all) {
  if (!works_) return false;
  const auto found =
      std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) {
        return kept.rows.rows == rows.rows &&
               kept.rows.outputs == rows.outputs &&
               kept.rows.sequences == rows.sequences;
      });
  if (found == kept_.end()) {
    if (kept_.size() == kMost) kept_.erase(kept_.begin());
    kept_.push_back({rows, {}});
    return false;
  }
  std::rotate(found, found + 1, kept_.end());
  Kept& kept = kept_.back();
  if (kept.graph.get() == nullptr) {
    try {
      kept.graph = captured(launch_all);
    } catch (const Error&) {
      works_ = false;
      return false;
    }
  }
  check(api().GraphLaunch(kept.graph.get(), stream_), "cuGraphLaunch");
  return true;
}

}  // namespace rc::cuda
