// Graphs of handles that choose a device for each op.
#include "graph_util.h"

namespace rc::test {
namespace {

TEST(GraphPlacement, MovesInputsFromOtherDevicesAndRefusesOutlines) {
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.placement = RC_PLACEMENT_EACH_OP;
  options.measure = 0;
  rc_backend* opened = nullptr;
  ASSERT_OK(rc_backend_open("cpu,reference", &options, &opened));
  const Backend backend(opened);
  const Shape shape = {6, 4};
  const Tensor x = make_random(opened, shape, 1);
  rc_tensor *made = nullptr, *wanted = nullptr;
  ASSERT_OK(rc_tensor_to(x.get(), nullptr, "reference", &made));
  const Tensor elsewhere(made);
  ASSERT_OK(rc_op_mul(x.get(), x.get(), &wanted));
  const Tensor square(wanted);

  RecordedGraph graph(opened);
  rc_tensor* input = graph.input(shape);
  ASSERT_OK(rc_op_mul(input, elsewhere.get(), &made));
  std::vector<Tensor> outputs;
  outputs.emplace_back(made);

  // Without numbers there is nothing to compute with, or to move.
  ASSERT_OK(rc_tensor_outline(opened, RC_DTYPE_F32, shape.data(), 2, &made));
  const Tensor outline(made);
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_op_add(input, outline.get(), &made),
               "outline");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_tensor_to(input, nullptr, "reference", &made), "recorded");
  rc_tensor* wrong[] = {outline.get()};
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_graph_end(graph.get(), wrong, 1),
               "outputs[0]", "outline");

  graph.end(std::move(outputs));
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_graph_run(graph.get(), wrong, 1, nullptr, &made, 1),
               "inputs[0]", "outline");
  for (rc_tensor* given : {x.get(), elsewhere.get()}) {
    const std::vector<Tensor> found = graph.run({given});
    EXPECT_EQ(hash_of(found[0].get()), hash_of(square.get()));
    const char* device = nullptr;
    ASSERT_OK(rc_tensor_device(found[0].get(), &device));
    EXPECT_STREQ(device, "cpu:0");
  }
}

}  // namespace
}  // namespace rc::test
