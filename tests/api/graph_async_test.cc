// Graphs that run on a thread of the library: one end each, on the loop,
// however it comes.
#include <atomic>
#include <chrono>
#include <thread>

#include "graph_util.h"
#include "runtime/wrapped_plugin.h"

namespace rc::test {
namespace {

struct GraphEnd {
  int count = 0;
  rc_status status = RC_E_INTERNAL;
  std::string message;
  std::vector<Tensor> outputs;
  std::thread::id thread;

  static void callback(void* user, rc_status status, const char* message,
                       rc_tensor* const* outputs, size_t output_count) {
    GraphEnd& end = *static_cast<GraphEnd*>(user);
    ++end.count;
    end.status = status;
    end.message = message;
    end.thread = std::this_thread::get_id();
    for (size_t i = 0; i < output_count; ++i) {
      end.outputs.emplace_back(outputs[i]);
    }
  }
};

Loop make_loop() {
  rc_loop* loop = nullptr;
  EXPECT_OK(rc_loop_create(&loop));
  return Loop(loop);
}

void dispatch_one(rc_loop* loop) {
  ASSERT_OK(rc_loop_wait(loop, 60000));
  size_t count = 0;
  ASSERT_OK(rc_loop_dispatch(loop, 0, &count));
  EXPECT_EQ(count, 1u);
}

// y = x + x on a backend.
std::unique_ptr<RecordedGraph> doubling(rc_backend* backend) {
  auto graph = std::make_unique<RecordedGraph>(backend);
  rc_tensor* x = graph->input({2});
  rc_tensor* y = nullptr;
  EXPECT_OK(rc_op_add(x, x, &y));
  std::vector<Tensor> outputs;
  outputs.emplace_back(y);
  graph->end(std::move(outputs));
  return graph;
}

// A backend whose runs last until they are to stop, or for a minute.
Backend endless_backend(const char* name, std::atomic<int>& running,
                        const rc_backend_options* options) {
  WrappedState& state = wrap_backend(name, "cpu");
  state.on_run = [&running](const rc_plugin_run& run, char*, const auto&) {
    ++running;
    for (int i = 0; i < 60000; ++i) {
      if (run.should_stop(run.user) != 0) return rc_status{RC_E_CANCELLED};
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return rc_status{RC_E_INTERNAL};
  };
  rc_backend* opened = nullptr;
  EXPECT_OK(rc_backend_open(name, options, &opened));
  return Backend(opened);
}

TEST(GraphAsync, EndsOnTheLoop) {
  const Backend backend = open_backend("cpu");
  const Loop loop = make_loop();
  auto graph = doubling(backend.get());
  Tensor x = make(backend.get(), {2}, {1, 2});
  GraphEnd end;
  rc_tensor* given[] = {x.get()};
  ASSERT_OK(rc_graph_run_async(graph->get(), given, 1, nullptr, loop.get(),
                               GraphEnd::callback, &end));
  // The run keeps what it needs.
  graph.reset();
  x.reset();
  EXPECT_EQ(end.count, 0);
  dispatch_one(loop.get());
  EXPECT_EQ(end.count, 1);
  EXPECT_EQ(end.status, RC_OK) << end.message;
  EXPECT_EQ(end.thread, std::this_thread::get_id());
  ASSERT_EQ(end.outputs.size(), 1u);
  EXPECT_EQ(numbers_of(end.outputs[0].get()), (std::vector<float>{2, 4}));
}

TEST(GraphAsync, ManyRunsEndOnTheLoop) {
  const Backend backend = open_backend("cpu");
  const Loop loop = make_loop();
  const auto graph = doubling(backend.get());
  constexpr int kRuns = 40;
  std::vector<GraphEnd> ends(kRuns);
  std::vector<Tensor> inputs;
  for (int i = 0; i < kRuns; ++i) {
    inputs.push_back(make(backend.get(), {2}, {float(i), 1}));
    rc_tensor* given[] = {inputs.back().get()};
    ASSERT_OK(rc_graph_run_async(graph->get(), given, 1, nullptr, loop.get(),
                                 GraphEnd::callback, &ends[i]));
  }
  ASSERT_OK(rc_loop_close(loop.get()));  // it cancels what is under way
  while (rc_loop_wait(loop.get(), 60000) == RC_OK) {
    ASSERT_OK(rc_loop_dispatch(loop.get(), 0, nullptr));
  }
  for (int i = 0; i < kRuns; ++i) {
    EXPECT_EQ(ends[i].count, 1);
    if (ends[i].status == RC_OK) {
      EXPECT_EQ(numbers_of(ends[i].outputs.at(0).get()),
                (std::vector<float>{2.0f * float(i), 2}));
    } else {
      EXPECT_EQ(ends[i].status, RC_E_CANCELLED) << ends[i].message;
      EXPECT_TRUE(ends[i].outputs.empty());
    }
  }
  GraphEnd end;
  rc_tensor* given[] = {inputs[0].get()};
  EXPECT_FAILS(RC_E_CLOSED,
               rc_graph_run_async(graph->get(), given, 1, nullptr, loop.get(),
                                  GraphEnd::callback, &end),
               "loop");
  EXPECT_EQ(end.count, 0);
}

TEST(GraphAsync, CancelDeadlineAndQuotaEndRuns) {
  std::atomic<int> running{0};
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.max_requests = 1;
  const Backend backend = endless_backend("endless_graph", running, &options);
  const Loop loop = make_loop();
  const auto graph = doubling(backend.get());
  const Tensor x = make(backend.get(), {2}, {1, 2});
  rc_tensor* given[] = {x.get()};
  GraphEnd end;
  const auto start = [&](const rc_graph_run_options* how) {
    end = {};
    return rc_graph_run_async(graph->get(), given, 1, how, loop.get(),
                              GraphEnd::callback, &end);
  };
  ASSERT_OK(start(nullptr));
  while (running == 0) std::this_thread::yield();
  GraphEnd other;
  EXPECT_FAILS(RC_E_QUOTA,
               rc_graph_run_async(graph->get(), given, 1, nullptr, loop.get(),
                                  GraphEnd::callback, &other),
               "max_requests");
  ASSERT_OK(rc_graph_cancel(graph->get()));
  dispatch_one(loop.get());
  EXPECT_EQ(end.count, 1);
  EXPECT_EQ(end.status, RC_E_CANCELLED);
  EXPECT_NE(end.message.find("cancelled"), std::string::npos) << end.message;
  EXPECT_TRUE(end.outputs.empty());

  rc_graph_run_options soon = RC_GRAPH_RUN_OPTIONS_INIT;
  soon.deadline_ms = 20;
  ASSERT_OK(start(&soon));
  dispatch_one(loop.get());
  EXPECT_EQ(end.status, RC_E_TIMEOUT);
  EXPECT_NE(end.message.find("20 ms"), std::string::npos) << end.message;
  rc_tensor* y = nullptr;
  EXPECT_FAILS(RC_E_TIMEOUT, rc_graph_run(graph->get(), given, 1, &soon, &y, 1),
               "20 ms");
  EXPECT_EQ(y, nullptr);

  // Closing the loop cancels it, too.
  running = 0;
  ASSERT_OK(start(nullptr));
  while (running == 0) std::this_thread::yield();
  ASSERT_OK(rc_loop_close(loop.get()));
  dispatch_one(loop.get());
  EXPECT_EQ(end.count, 1);
  EXPECT_EQ(end.status, RC_E_CANCELLED);
  EXPECT_EQ(other.count, 0);
}

// Cancel stops a blocking run, and does not affect later ones.
TEST(GraphAsync, BlockingRunCanBeCancelled) {
  std::atomic<int> running{0};
  const Backend backend = endless_backend("endless_run", running, nullptr);
  const auto graph = doubling(backend.get());
  const Tensor x = make(backend.get(), {2}, {1, 2});
  rc_tensor* given[] = {x.get()};
  std::thread canceller([&] {
    while (running == 0) std::this_thread::yield();
    EXPECT_OK(rc_graph_cancel(graph->get()));
  });
  rc_tensor* y = nullptr;
  EXPECT_FAILS(RC_E_CANCELLED,
               rc_graph_run(graph->get(), given, 1, nullptr, &y, 1),
               "cancelled");
  canceller.join();
  rc_graph_run_options soon = RC_GRAPH_RUN_OPTIONS_INIT;
  soon.deadline_ms = 20;
  EXPECT_FAILS(RC_E_TIMEOUT, rc_graph_run(graph->get(), given, 1, &soon, &y, 1),
               "20 ms");
}

// A thread that waits until the deadline sees it pass before the run is
// abandoned.
TEST(GraphAsync, RunIsNotAbandonedBeforeItsDeadline) {
  WrappedState& state = wrap_backend("eager_stop", "cpu");
  state.on_run = [](const rc_plugin_run& run, char*, const auto&) {
    while (run.should_stop(run.user) == 0) {
    }
    return rc_status{RC_E_CANCELLED};
  };
  const Backend backend = open_backend("eager_stop");
  const auto graph = doubling(backend.get());
  const Tensor x = make(backend.get(), {2}, {1, 2});
  rc_tensor* given[] = {x.get()};
  rc_tensor* y = nullptr;
  rc_graph_run_options soon = RC_GRAPH_RUN_OPTIONS_INIT;
  soon.deadline_ms = 2;
  for (int i = 0; i < 20; ++i) {
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
    EXPECT_FAILS(RC_E_TIMEOUT,
                 rc_graph_run(graph->get(), given, 1, &soon, &y, 1), "2 ms");
    EXPECT_GE(std::chrono::steady_clock::now(), end);
  }
}

TEST(GraphAsync, ErrorsAreReportedAtOnceOrAtTheEnd) {
  const Backend backend = open_backend("cpu");
  const Loop loop = make_loop();
  RecordedGraph graph(backend.get());
  rc_tensor* ids = graph.input({1}, RC_DTYPE_I32);
  const Tensor table = make(backend.get(), {2, 1}, {5, 6});
  rc_tensor* y = nullptr;
  ASSERT_OK(rc_op_gather_rows(table.get(), ids, &y));
  std::vector<Tensor> outputs;
  outputs.emplace_back(y);
  graph.end(std::move(outputs));
  const int64_t one = 1;
  const int32_t id = 7;
  rc_tensor* made = nullptr;
  ASSERT_OK(
      rc_tensor_from_data(backend.get(), RC_DTYPE_I32, &one, 1, &id, 4, &made));
  const Tensor given(made);
  GraphEnd end;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_graph_run_async(graph.get(), &made, 1, nullptr, loop.get(),
                                  nullptr, &end),
               "callback");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_graph_run_async(graph.get(), &made, 0, nullptr, loop.get(),
                                  GraphEnd::callback, &end),
               "0 inputs");
  EXPECT_EQ(end.count, 0);
  ASSERT_OK(rc_graph_run_async(graph.get(), &made, 1, nullptr, loop.get(),
                               GraphEnd::callback, &end));
  dispatch_one(loop.get());
  EXPECT_EQ(end.status, RC_E_INVALID_ARGUMENT);
  EXPECT_NE(end.message.find("7"), std::string::npos) << end.message;
}

}  // namespace
}  // namespace rc::test
