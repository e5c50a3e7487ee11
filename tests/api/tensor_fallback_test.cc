// Ops on tensors that a device does not support.
#include <cstring>
#include <string>

#include "graph_util.h"
#include "runcible/plugin.h"
#include "runtime/wrapped_plugin.h"

namespace rc::test {
namespace {

// A device with memory that computes nothing.
rc_status only_memory(rc_plugin_device*, const rc_plugin_op*,
                      const rc_plugin_value* const*, size_t, char* message) {
  std::strcpy(message, "it only remembers");
  return RC_E_UNSUPPORTED;
}

const rc_plugin* memory_plugin() {
  static const rc_plugin plugin = [] {
    rc_plugin table = {};
    table.struct_size = sizeof table;
    table.abi_version = RC_PLUGIN_ABI_VERSION;
    table.name = "memory";
    table.description = "memory alone";
    table.device_count = [](int32_t* count, char*) {
      *count = 1;
      return rc_status{RC_OK};
    };
    table.device_info = [](int32_t, rc_plugin_device_info* info, char*) {
      std::strcpy(info->name, "memory");
      info->kind = RC_DEVICE_OTHER;
      return rc_status{RC_OK};
    };
    table.open = [](int32_t, const rc_plugin_open_options*,
                    rc_plugin_device** device, char*) {
      static int state;
      *device = reinterpret_cast<rc_plugin_device*>(&state);
      return rc_status{RC_OK};
    };
    table.close = [](rc_plugin_device*) {};
    table.op_supported = only_memory;
    table.compile = [](rc_plugin_device*, const rc_plugin_program*,
                       rc_plugin_compiled**,
                       char*) { return rc_status{RC_E_UNSUPPORTED}; };
    table.destroy_compiled = [](rc_plugin_device*, rc_plugin_compiled*) {};
    table.run = [](rc_plugin_device*, rc_plugin_compiled*, const rc_plugin_run*,
                   char*) { return rc_status{RC_E_INTERNAL}; };
    return table;
  }();
  return &plugin;
}

TEST(Tensor, UnsupportedOpsRunOnTheCpu) {
  ASSERT_OK(rc_plugin_register(memory_plugin()));
  const Backend backend = open_backend("memory");
  const Tensor a = make(backend.get(), {2, 2}, {1, 2, 3, 4});
  rc_tensor *t = nullptr, *y = nullptr;
  ASSERT_OK(rc_tensor_transpose(a.get(), 0, 1, &t));
  const Tensor transposed(t);
  // A transposed second operand is not copied.
  ASSERT_OK(rc_op_matmul(a.get(), t, &y));
  EXPECT_EQ(numbers_of(y), (std::vector<float>{5, 11, 11, 25}));
  rc_tensor_release(y);
  ASSERT_OK(rc_op_matmul(t, a.get(), &y));
  EXPECT_EQ(numbers_of(y), (std::vector<float>{10, 14, 14, 20}));
  rc_tensor_release(y);
  const char* json = nullptr;
  ASSERT_OK(rc_backend_explain(backend.get(), &json));
  for (const char* text : {"MATMUL", "COPY", "cpu:0", "it only remembers"}) {
    EXPECT_NE(std::string(json).find(text), std::string::npos) << json;
  }
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.strict = 1;
  rc_backend* opened = nullptr;
  ASSERT_OK(rc_backend_open("memory", &options, &opened));
  const Backend strict(opened);
  const Tensor b = make(opened, {2, 2}, {1, 2, 3, 4});
  EXPECT_FAILS(RC_E_UNSUPPORTED, rc_op_matmul(b.get(), b.get(), &y), "MATMUL",
               "it only remembers", "strict");
}

TEST(Tensor, UnsupportedOpsOfAGraphRunOnTheCpu) {
  static_cast<void>(rc_plugin_register(memory_plugin()));  // by each test
  const Backend backend = open_backend("memory");
  const Tensor constant = make(backend.get(), {2, 2}, {1, 2, 3, 4});
  RecordedGraph graph(backend.get());
  rc_tensor *x = graph.input({2, 2}), *product = nullptr, *y = nullptr;
  ASSERT_OK(rc_op_matmul(x, constant.get(), &product));
  ASSERT_OK(rc_op_add(product, x, &y));
  rc_tensor_release(product);
  std::vector<Tensor> outputs;
  outputs.emplace_back(y);
  graph.end(std::move(outputs));
  for (const float factor : {1.0f, 2.0f}) {
    const Tensor given = make(backend.get(), {2, 2}, {factor, 0, 0, factor});
    EXPECT_EQ(
        numbers_of(graph.run({given.get()})[0].get()),
        (std::vector<float>{2 * factor, 2 * factor, 3 * factor, 5 * factor}));
  }
  const char* json = nullptr;
  ASSERT_OK(rc_backend_explain(backend.get(), &json));
  for (const char* text : {"MATMUL", "BINARY", "it only remembers"}) {
    EXPECT_NE(std::string(json).find(text), std::string::npos) << json;
  }
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.strict = 1;
  rc_backend* opened = nullptr;
  ASSERT_OK(rc_backend_open("memory", &options, &opened));
  const Backend strict(opened);
  RecordedGraph refused(opened);
  x = refused.input({2, 2});
  ASSERT_OK(rc_op_relu(x, &y));
  EXPECT_FAILS(RC_E_UNSUPPORTED, rc_graph_end(refused.get(), &y, 1), "UNARY",
               "it only remembers", "strict");
  rc_tensor_release(y);
}

// The CPU reads the operands where they are, and writes the result there.
TEST(Tensor, FallbackInHostMemoryCopiesNothing) {
  constexpr int64_t kCount = 100000;
  constexpr uint64_t kBytes = kCount * sizeof(float);
  static_cast<void>(rc_plugin_register(memory_plugin()));  // by each test
  WrappedState& state = wrap_backend("lends", "cpu");
  state.missing_ops = {RC_OP_SOFTMAX, RC_OP_UNARY};
  const Backend cpu = open_backend("cpu");
  for (const char* name : {"lends", "memory"}) {
    SCOPED_TRACE(name);
    rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
    options.memory_limit = 2 * kBytes;
    rc_backend* opened = nullptr;
    ASSERT_OK(rc_backend_open(name, &options, &opened));
    const Backend backend(opened);
    const Tensor x = make_random(opened, {kCount}, 1);
    const Tensor there = make_random(cpu.get(), {kCount}, 1);
    const auto expect = [&](auto op, const char* what) {
      rc_tensor *y = nullptr, *expected = nullptr;
      ASSERT_OK(op(x.get(), &y)) << what;
      const Tensor made(y);
      ASSERT_OK(op(there.get(), &expected)) << what;
      EXPECT_EQ(numbers_of(y), numbers_of(Tensor(expected).get())) << what;
    };
    expect([](rc_tensor* of, rc_tensor** y) { return rc_op_softmax(of, 0, y); },
           "softmax");
    expect([](rc_tensor* of, rc_tensor** y) { return rc_op_exp(of, y); },
           "exp");
  }
}

// A device would not see that two buffers are one, so an operand that is the
// target, too, is copied.
TEST(Tensor, FallbackIntoAnOperandComputesTheResult) {
  WrappedState& state = wrap_backend("lends_in_place", "cpu");
  state.missing_ops = {RC_OP_UNARY, RC_OP_BINARY};
  const Backend backend = open_backend("lends_in_place");
  const Tensor x = make(backend.get(), {5}, {1, -2, 3, -4, 5});
  rc_tensor *bound = nullptr, *y = nullptr;
  ASSERT_OK(rc_op_into(x.get(), x.get(), &bound));
  const Tensor into_x(bound);
  ASSERT_OK(rc_op_relu(bound, &y));
  rc_tensor_release(y);
  EXPECT_EQ(numbers_of(x.get()), (std::vector<float>{1, 0, 3, 0, 5}));
  ASSERT_OK(rc_op_mul(bound, x.get(), &y));
  rc_tensor_release(y);
  EXPECT_EQ(numbers_of(x.get()), (std::vector<float>{1, 0, 9, 0, 25}));
}

// Some ops here, some there, and what lies between goes to and fro.
TEST(Tensor, GraphRunsOnTwoDevices) {
  WrappedState& state = wrap_backend("without_softmax", "cpu");
  state.missing_ops = {RC_OP_SOFTMAX};
  const Backend cpu = open_backend("cpu");
  const Backend lacking = open_backend("without_softmax");
  const auto run = [](rc_backend* backend) {
    const Tensor constant = make_random(backend, {3, 5}, 1);
    RecordedGraph graph(backend);
    rc_tensor* x = graph.input({3, 5});
    std::vector<Tensor> made;
    const auto keep = [&](rc_status status, rc_tensor* const* tensor) {
      EXPECT_OK(status);
      made.emplace_back(*tensor);
      return *tensor;
    };
    rc_tensor* y = nullptr;
    rc_tensor* sum = keep(rc_op_add(x, constant.get(), &y), &y);
    rc_tensor* first = keep(rc_op_softmax(sum, 1, &y), &y);
    rc_tensor* second = keep(rc_op_mul(first, x, &y), &y);
    rc_tensor* third = keep(rc_op_softmax(second, 0, &y), &y);
    // The constant that it reads comes from the device as well.
    rc_tensor* fourth = keep(rc_op_softmax(x, 1, &y), &y);
    keep(rc_op_sub(third, fourth, &y), &y);
    graph.end(std::move(made));
    std::vector<uint64_t> hashes;
    for (uint64_t seed = 2; seed < 4; ++seed) {
      const Tensor given = make_random(backend, {3, 5}, seed);
      for (const Tensor& output : graph.run({given.get()})) {
        hashes.push_back(hash_of(output.get()));
      }
    }
    return hashes;
  };
  EXPECT_EQ(run(lacking.get()), run(cpu.get()));
  EXPECT_GT(state.runs, 0);
}

}  // namespace
}  // namespace rc::test
