// Graphs and loops.
#include <uv.h>

#include "runcible/graph.h"
#include "scenarios.h"

namespace rc::test {
namespace {

using Graph = std::unique_ptr<rc_graph, Release<rc_graph_release>>;

rc_status graphs(World& world) {
  constexpr int64_t kShape[] = {4, 32};
  rc_graph* begun = nullptr;
  RC_TRY(RC_CALL(rc_graph_begin)(world.cpu.get(), &begun));
  const Graph graph(begun);
  rc_tensor* made = nullptr;
  RC_TRY(RC_CALL(rc_graph_input)(begun, RC_DTYPE_F32, kShape, 2, &made));
  const TensorHandle input(made);
  made = nullptr;
  RC_TRY(RC_CALL(rc_op_matmul_transposed)(input.get(), world.y.get(), &made));
  const TensorHandle product(made);
  made = nullptr;
  RC_TRY(RC_CALL(rc_op_gelu)(product.get(), &made));
  const TensorHandle result(made);
  rc_tensor* outputs[] = {result.get()};
  RC_TRY(RC_CALL(rc_graph_end)(begun, outputs, 1));
  RC_CALL(rc_graph_release)(RC_CALL(rc_graph_retain)(begun));
  rc_graph_report report = RC_GRAPH_REPORT_INIT;
  RC_TRY(RC_CALL(rc_graph_info)(begun, &report));
  rc_tensor* inputs[] = {world.x.get()};
  rc_tensor* computed[] = {nullptr};
  RC_TRY(RC_CALL(rc_graph_run)(begun, inputs, 1, nullptr, computed, 1));
  rc_tensor_release(computed[0]);
  End end;
  RC_TRY(await(RC_CALL(rc_graph_run_async)(
                   begun, inputs, 1, nullptr, world.loop.get(),
                   [](void* user, rc_status status, const char*,
                      rc_tensor* const* found, size_t count) {
                     for (size_t i = 0; i < count; ++i) {
                       rc_tensor_release(found[i]);
                     }
                     static_cast<End*>(user)->receive(status);
                   },
                   &end),
               world.loop.get(), end));
  return RC_CALL(rc_graph_cancel)(begun);
}

rc_status loops(World& world) {
  rc_loop* created = nullptr;
  RC_TRY(RC_CALL(rc_loop_create)(&created));
  const Loop loop(created);
  RC_CALL(rc_loop_release)(RC_CALL(rc_loop_retain)(created));
  int32_t fd = -1;
  RC_TRY(RC_CALL(rc_loop_fd)(created, &fd));
  rc_loop_handle_kind kind = 0;
  intptr_t handle = 0;
  RC_TRY(RC_CALL(rc_loop_handle)(created, &kind, &handle));
  End end;
  RC_TRY(await(
      RC_CALL(rc_tensor_to_async)(
          world.x.get(), world.reference.get(), nullptr, created,
          [](void* user, rc_status status, const char*, rc_tensor* moved) {
            rc_tensor_release(moved);
            static_cast<End*>(user)->receive(status);
          },
          &end),
      created, end));
  return RC_CALL(rc_loop_close)(created);
}

// libuv ends the process if it has no memory for a loop, so that the loop of
// the program exists before.
rc_status loops_of_libuv(World& world) {
  static uv_loop_t* const uv = [] {
    static uv_loop_t made;
    EXPECT_EQ(uv_loop_init(&made), 0);
    return &made;
  }();
  rc_loop* created = nullptr;
  const rc_status made = RC_CALL(rc_loop_uv)(uv, &created);
  if (made != RC_OK) {
    uv_run(uv, UV_RUN_DEFAULT);  // closes what was begun
    return made;
  }
  End end;
  rc_status status = RC_CALL(rc_tensor_to_async)(
      world.x.get(), world.reference.get(), nullptr, created,
      [](void* user, rc_status status, const char*, rc_tensor* moved) {
        rc_tensor_release(moved);
        static_cast<End*>(user)->receive(status);
      },
      &end);
  if (status == RC_OK) {
    while (end.times == 0) uv_run(uv, UV_RUN_ONCE);
    status = end.status;
  }
  rc_loop_release(created);
  uv_run(uv, UV_RUN_DEFAULT);
  return status;
}

}  // namespace

std::vector<Scenario> graph_scenarios() {
  return {{"graphs", graphs, 100},
          {"loops", loops},
          {"loops_of_libuv", loops_of_libuv}};
}

}  // namespace rc::test
