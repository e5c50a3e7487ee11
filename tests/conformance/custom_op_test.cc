// Kernels of custom ops on every device, against the same numbers made here. A
// device whose backend takes no kernels, and one that has none in its language,
// computes by the function.
#include "runcible/custom_op.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "api/graph_util.h"
#include "conformance_util.h"
#include "runcible/graph.h"

namespace rc::test {
namespace {

using CustomOp = std::unique_ptr<rc_custom_op, Release<rc_custom_op_release>>;

rc_status scale_rows(void*, const rc_custom_call* call, char* message) {
  if (call->input_count != 2 || call->output_count != 1 ||
      call->attribute_count != 2) {
    std::strcpy(message, "the counts are wrong");
    return RC_E_INTERNAL;
  }
  const int64_t columns = call->inputs[1]->shape[0];
  const auto* x = static_cast<const float*>(call->inputs[0]->data);
  const auto* scale = static_cast<const int32_t*>(call->inputs[1]->data);
  auto* y = static_cast<float*>(call->outputs[0]->data);
  for (int64_t i = call->begin * columns; i < call->end * columns; ++i) {
    y[i] = x[i] * static_cast<float>(scale[i % columns]) +
           static_cast<float>(call->attributes[0] * call->attributes[1]);
  }
  return RC_OK;
}

rc_custom_op_options scale_options() {
  rc_custom_op_options options = RC_CUSTOM_OP_OPTIONS_INIT;
  options.name = "scale_rows";
  options.signature = "x F32 [m, n], scale I32 [n] -> y F32 [m, n]";
  options.attributes = "shift float, times int";
  options.function = scale_rows;
  options.items = "m";
  options.grid = "n, m";
  options.opencl_c_head = "float scaled(float x, int s) { return x * s; }";
  options.opencl_c =
      "int column = get_global_id(0), row = get_global_id(1);\n"
      "if (column >= n || row >= m) return;\n"
      "int i = row * n + column;\n"
      "if (i >= x_elements || i >= y_elements) return;\n"
      "y[i] = scaled(x[i], scale[column]) + shift * times;\n";
  options.glsl_head = "float scaled(float x, int s) { return x * float(s); }";
  options.glsl =
      "int column = int(gl_GlobalInvocationID.x);\n"
      "int row = int(gl_GlobalInvocationID.y);\n"
      "if (column >= n || row >= m) return;\n"
      "int i = row * n + column;\n"
      "if (i >= x_elements || i >= y_elements) return;\n"
      "y[i] = scaled(x[i], scale[column]) + shift * times;\n";
  return options;
}

CustomOp create(const rc_custom_op_options& options) {
  rc_custom_op* op = nullptr;
  EXPECT_OK(rc_custom_op_create(&options, &op));
  return CustomOp(op);
}

rc_status compute(const CustomOp& op, const std::vector<rc_tensor*>& inputs,
                  const std::vector<double>& attributes, Tensor* output) {
  rc_tensor* made = nullptr;
  const rc_status status =
      rc_custom_op_compute(op.get(), inputs.data(), inputs.size(),
                           attributes.data(), attributes.size(), &made, 1);
  output->reset(made);
  return status;
}

Tensor make_integers(rc_backend* backend, const std::vector<int32_t>& numbers) {
  rc_tensor* tensor = nullptr;
  const auto count = static_cast<int64_t>(numbers.size());
  EXPECT_OK(rc_tensor_from_data(backend, RC_DTYPE_I32, &count, 1,
                                numbers.data(), numbers.size() * 4, &tensor));
  return Tensor(tensor);
}

// The fallbacks of the handle name the op.
bool fell_back(rc_backend* backend, const std::string& op) {
  const char* json = nullptr;
  EXPECT_OK(rc_backend_explain(backend, &json));
  return std::string(json).find("\"op\":\"" + op + "\"") != std::string::npos;
}

bool takes_kernels(const std::string& id) {
  return id.starts_with("opencl") || id.starts_with("vulkan") ||
         id.starts_with("rocm");
}

TEST(CustomOp, RunsOnEveryDevice) {
  const CustomOp op = create(scale_options());
  for (const std::string& id : device_ids()) {
    SCOPED_TRACE(id);
    const Backend backend = open_backend(id.c_str());
    for (const int64_t rows : {1, 5, 300}) {
      const int64_t columns = rows == 5 ? 1000 : 3;
      const Tensor x = make_random(backend.get(), {rows, columns}, 7);
      std::vector<int32_t> scale;
      for (int64_t i = 0; i < columns; ++i) {
        scale.push_back(static_cast<int32_t>(i - 2));
      }
      const Tensor scales = make_integers(backend.get(), scale);
      Tensor y;
      ASSERT_OK(compute(op, {x.get(), scales.get()}, {0.25, 3}, &y));
      const std::vector<float> given = numbers_of(x.get());
      std::vector<float> expected;
      for (size_t i = 0; i < given.size(); ++i) {
        expected.push_back(
            given[i] * static_cast<float>(scale[i % scale.size()]) + 0.75f);
      }
      // A compiler may contract the product and the sum.
      const std::vector<float> found = numbers_of(y.get());
      ASSERT_EQ(found.size(), expected.size());
      for (size_t i = 0; i < found.size(); ++i) {
        ASSERT_NEAR(found[i], expected[i], 1e-5 * (1 + std::abs(expected[i])));
      }
      // A view that does not begin where a buffer may be bound.
      if (rows == 1) continue;
      rc_tensor* part = nullptr;
      ASSERT_OK(rc_tensor_slice(x.get(), 0, 1, rows, 1, &part));
      const Tensor view(part);
      ASSERT_OK(compute(op, {part, scales.get()}, {0.25, 3}, &y));
      const std::vector<float> later = numbers_of(y.get());
      EXPECT_TRUE(std::equal(later.begin(), later.end(),
                             found.begin() + columns, found.end()));
    }
    if (takes_kernels(id)) {
      EXPECT_FALSE(fell_back(backend.get(), "scale_rows"));
    }
  }
}

TEST(CustomOp, RunsInGraphsOfEveryDevice) {
  const CustomOp op = create(scale_options());
  for (const std::string& id : device_ids()) {
    SCOPED_TRACE(id);
    const Backend backend = open_backend(id.c_str());
    const Tensor scale = make_integers(backend.get(), {1, -2, 3});
    RecordedGraph graph(backend.get());
    rc_tensor* input = graph.input({2, 3});
    rc_tensor *sum = nullptr, *last = nullptr;
    ASSERT_OK(rc_op_add(input, input, &sum));
    const Tensor keep(sum);
    Tensor y;
    ASSERT_OK(compute(op, {sum, scale.get()}, {1, 1}, &y));
    ASSERT_OK(rc_op_relu(y.get(), &last));
    std::vector<Tensor> outputs;
    outputs.emplace_back(last);
    graph.end(std::move(outputs));
    for (int run = 0; run < 2; ++run) {
      const Tensor x = make(backend.get(), {2, 3}, {1, 2, 3, -1, -2, -3});
      EXPECT_EQ(numbers_of(graph.run({x.get()})[0].get()),
                (std::vector<float>{3, 0, 19, 0, 9, 0}));
    }
  }
}

TEST(CustomOp, WithoutAKernelFallsBackAndWithoutAFunctionNeedsAGpu) {
  for (const std::string& id : device_ids()) {
    SCOPED_TRACE(id);
    // Where buffers are memory of the host's the function is called in place.
    const Backend backend = open_backend(id.c_str());
    const Tensor x = make(backend.get(), {1, 3}, {1, 2, 3});
    void* memory = nullptr;
    const bool calls_functions = rc_tensor_memory(x.get(), &memory) == RC_OK;
    const Tensor scale = make_integers(backend.get(), {1, 2, 3});
    Tensor y;
    rc_custom_op_options options = scale_options();
    options.opencl_c = options.opencl_c_head = nullptr;
    options.glsl = options.glsl_head = options.grid = nullptr;
    ASSERT_OK(compute(create(options), {x.get(), scale.get()}, {1, 2}, &y));
    EXPECT_EQ(numbers_of(y.get()), (std::vector<float>{3, 6, 11}));
    EXPECT_EQ(fell_back(backend.get(), "scale_rows"), !calls_functions);
    options = scale_options();
    options.function = nullptr;
    const rc_status status =
        compute(create(options), {x.get(), scale.get()}, {1, 2}, &y);
    if (takes_kernels(id)) {
      ASSERT_EQ(status, RC_OK) << rc_error_message();
      EXPECT_EQ(numbers_of(y.get()), (std::vector<float>{3, 6, 11}));
    } else {
      EXPECT_FAILS(RC_E_UNSUPPORTED, status, "scale_rows", id, "no function");
    }
    if (calls_functions) continue;
    // With `strict` nothing runs elsewhere.
    rc_backend_options strict = RC_BACKEND_OPTIONS_INIT;
    strict.strict = 1;
    rc_backend* opened = nullptr;
    ASSERT_OK(rc_backend_open(id.c_str(), &strict, &opened));
    const Backend alone(opened);
    const Tensor a = make(alone.get(), {1, 3}, {1, 2, 3});
    const Tensor b = make_integers(alone.get(), {1, 2, 3});
    options = scale_options();
    options.opencl_c = options.opencl_c_head = nullptr;
    options.glsl = options.glsl_head = options.grid = nullptr;
    EXPECT_FAILS(RC_E_UNSUPPORTED,
                 compute(create(options), {a.get(), b.get()}, {1, 2}, &y),
                 "scale_rows", id, "strict");
  }
}

// The error contains the message of the compiler, with the lines of the body.
TEST(CustomOp, CompileErrorsAreReported) {
  rc_custom_op_options options = scale_options();
  options.opencl_c = "int i = 0;\n\ny[i] = there_is_no_such_thing;\n";
  options.glsl = options.opencl_c;
  const CustomOp op = create(options);
  for (const std::string& id : device_ids()) {
    if (!takes_kernels(id)) continue;
    SCOPED_TRACE(id);
    const Backend backend = open_backend(id.c_str());
    const Tensor x = make(backend.get(), {1, 3}, {1, 2, 3});
    const Tensor scale = make_integers(backend.get(), {1, 2, 3});
    Tensor y;
    EXPECT_FAILS(RC_E_FORMAT, compute(op, {x.get(), scale.get()}, {1, 2}, &y),
                 "scale_rows", "there_is_no_such_thing");
    const auto tells_line = [] {
      const std::string said = rc_error_message();
      return said.find("scale_rows:3:") != std::string::npos ||
             said.find("is line 1 of scale_rows") != std::string::npos;
    };
    EXPECT_TRUE(tells_line()) << rc_error_message();
    // The end of a graph reports the error, too.
    RecordedGraph graph(backend.get());
    ASSERT_OK(compute(op, {graph.input({1, 3}), scale.get()}, {1, 2}, &y));
    rc_tensor* output = y.get();
    EXPECT_FAILS(RC_E_FORMAT, rc_graph_end(graph.get(), &output, 1),
                 "scale_rows", "there_is_no_such_thing");
    EXPECT_TRUE(tells_line()) << rc_error_message();
  }
}

// Each type gets a separate kernel; one tensor has no elements.
TEST(CustomOp, KernelsServeSeveralTypes) {
  rc_custom_op_options options = RC_CUSTOM_OP_OPTIONS_INIT;
  options.name = "twice";
  options.signature = "x F32|I32|F16 [...], none F32 [k] -> y x [...]";
  options.grid = "elements(x)";
  options.opencl_c =
      "size_t i = get_global_id(0); if (i < x_elements) y[i] = x[i] + x[i];";
  options.glsl =
      "uint i = gl_GlobalInvocationID.x; if (i < x_elements) y[i] = x[i] + "
      "x[i];";
  const CustomOp op = create(options);
  for (const std::string& id : device_ids()) {
    if (!takes_kernels(id)) continue;
    SCOPED_TRACE(id);
    const Backend backend = open_backend(id.c_str());
    const Tensor none = make(backend.get(), {0}, {});
    const Tensor x = make(backend.get(), {3}, {1, 2, 3});
    const Tensor whole = make_integers(backend.get(), {4, 5});
    Tensor y;
    ASSERT_OK(compute(op, {x.get(), none.get()}, {}, &y));
    EXPECT_EQ(numbers_of(y.get()), (std::vector<float>{2, 4, 6}));
    ASSERT_OK(compute(op, {whole.get(), none.get()}, {}, &y));
    int32_t found[2];
    ASSERT_OK(rc_tensor_read(y.get(), found, sizeof found));
    EXPECT_EQ(found[0], 8);
    EXPECT_EQ(found[1], 10);
    if (!id.starts_with("vulkan")) continue;
    rc_tensor* half = nullptr;
    ASSERT_OK(rc_tensor_arange(backend.get(), RC_DTYPE_F16, 0, 3, 1, &half));
    const Tensor halves(half);
    EXPECT_FAILS(RC_E_UNSUPPORTED, compute(op, {half, none.get()}, {}, &y),
                 "twice", "x is F16", "GLSL");
  }
}

}  // namespace
}  // namespace rc::test
