#include "streams/graphs.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace rc::streams {
namespace {

constexpr size_t kMost = 8;

}  // namespace

GraphExec Graphs::captured(const std::function<void()>& launch_all) {
  driver_.begin_capture(stream_);
  try {
    launch_all();
  } catch (...) {
    // Only this ends the capture.
    try {
      const Graph unfinished(driver_, driver_.end_capture(stream_));
    } catch (const Error&) {
    }
    throw;
  }
  const Graph graph(driver_, driver_.end_capture(stream_));
  return {driver_, driver_.instantiate(graph.get())};
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
  driver_.launch(kept.graph.get(), stream_);
  return true;
}

}  // namespace rc::streams
