// Runs a graph on a dedicated thread.
#include <utility>

#include "api/async_work.h"
#include "api/graph.h"
#include "api/guard.h"
#include "api/loop.h"
#include "api/tensor.h"

namespace rc::api {
namespace {

class AsyncGraphRun final : public AsyncWork {
 public:
  AsyncGraphRun(GraphRun run, std::shared_ptr<engine::Loop> loop,
                rc_graph_run_callback callback, void* user)
      : AsyncWork(std::move(loop), "running", "rc_graph_run_async"),
        slot_(run.account(), /*uses_tokens=*/false),
        run_(std::move(run)),
        cancels_(run_.graph().cancels()),
        callback_(callback),
        user_(user) {}

  ~AsyncGraphRun() override {
    for (rc_tensor* output : outputs_) release_handle(output, "output");
  }

 private:
  void work() override {
    outputs_ = add_tensors(run_.run(
        [](void* self) {
          const auto& run = *static_cast<AsyncGraphRun*>(self);
          return run.stopped() || run.run_.graph().cancels() != run.cancels_;
        },
        this));
  }

  void deliver(rc_status status, const char* message) override {
    slot_.release();
    // The receiver's, however it ends.
    const std::vector<rc_tensor*> outputs = std::exchange(outputs_, {});
    callback_(user_, status, message,
              outputs.empty() ? nullptr : outputs.data(), outputs.size());
  }

  HandleAccount::Slot slot_;
  const GraphRun run_;
  const uint64_t cancels_;  // before it began
  const rc_graph_run_callback callback_;
  void* const user_;
  std::vector<rc_tensor*> outputs_;
};

}  // namespace
}  // namespace rc::api

rc_status rc_graph_run_async(rc_graph* graph, rc_tensor* const* inputs,
                             size_t input_count,
                             const rc_graph_run_options* options, rc_loop* loop,
                             rc_graph_run_callback callback, void* user) {
  return rc::api::guard([&] {
    rc::api::GraphRun run(graph, inputs, input_count, options);
    rc::api::need_pointer(reinterpret_cast<const void*>(callback), "callback");
    rc::api::AsyncWork::start(std::make_unique<rc::api::AsyncGraphRun>(
        std::move(run), rc::api::loop_or_own(loop), callback, user));
  });
}
