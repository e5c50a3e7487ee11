// Tensors and single ops.
#include <array>

#include "runcible/custom_op.h"
#include "runcible/tensor.h"
#include "scenarios.h"

namespace rc::test {
namespace {

// The status of a function that makes a tensor, which is released.
template <class Function, class... Arguments>
rc_status made(Function function, Arguments... arguments) {
  rc_tensor* tensor = nullptr;
  const rc_status status = function(arguments..., &tensor);
  EXPECT_EQ(tensor != nullptr, status == RC_OK);
  rc_tensor_release(tensor);
  return status;
}

// Makes a tensor and keeps it.
template <class Function, class... Arguments>
rc_status keep(TensorHandle& kept, Function function, Arguments... arguments) {
  rc_tensor* tensor = nullptr;
  const rc_status status = function(arguments..., &tensor);
  kept.reset(tensor);
  return status;
}

constexpr int64_t kImage[] = {1, 1, 4, 32};

rc_status making(World& world) {
  rc_backend* const cpu = world.cpu.get();
  constexpr std::array<float, 128> kNumbers = {};
  RC_TRY(made(RC_CALL(rc_tensor_create), cpu, RC_DTYPE_F16, kShape, 2));
  RC_TRY(made(RC_CALL(rc_tensor_from_data), cpu, RC_DTYPE_F32, kShape, 2,
              kNumbers.data(), sizeof kNumbers));
  RC_TRY(made(RC_CALL(rc_tensor_arange), cpu, RC_DTYPE_I32, 0.0, 8.0, 1.0));
  RC_TRY(made(RC_CALL(rc_tensor_ones), cpu, RC_DTYPE_F32, kShape, 2));
  RC_TRY(made(RC_CALL(rc_tensor_random), cpu, kShape, 2, nullptr));
  alignas(64) static float lent[128];
  int ended = 0;
  const rc_status borrowed = made(
      RC_CALL(rc_tensor_borrow), cpu, RC_DTYPE_F32, kShape, 2, lent,
      sizeof lent, [](void* user) { ++*static_cast<int*>(user); }, &ended);
  EXPECT_EQ(ended, borrowed == RC_OK ? 1 : 0);
  RC_TRY(borrowed);
  RC_TRY(made(RC_CALL(rc_tensor_reshape), world.x.get(), kImage, 4));
  RC_TRY(made(RC_CALL(rc_tensor_slice), world.x.get(), 0, 1, 3, 1));
  RC_TRY(made(RC_CALL(rc_tensor_transpose), world.x.get(), 0, 1));
  rc_pinned* pinned = nullptr;
  RC_TRY(RC_CALL(rc_pinned_create)(cpu, nullptr, 64, &pinned));
  RC_CALL(rc_pinned_release)(RC_CALL(rc_pinned_retain)(pinned));
  void* data = nullptr;
  size_t bytes = 0;
  const rc_status status = RC_CALL(rc_pinned_memory)(pinned, &data, &bytes);
  rc_pinned_release(pinned);
  return status;
}

rc_status asking(World& world) {
  rc_tensor* const x = world.x.get();
  RC_CALL(rc_tensor_release)(RC_CALL(rc_tensor_retain)(x));
  rc_dtype dtype = 0;
  RC_TRY(RC_CALL(rc_tensor_dtype)(x, &dtype));
  int64_t shape[RC_TENSOR_MAX_RANK];
  int32_t rank = 0;
  RC_TRY(RC_CALL(rc_tensor_shape)(x, shape, &rank));
  int64_t elements = 0;
  size_t bytes = 0;
  RC_TRY(RC_CALL(rc_tensor_size)(x, &elements, &bytes));
  const char* device = nullptr;
  RC_TRY(RC_CALL(rc_tensor_device)(x, &device));
  float numbers[128];
  RC_TRY(RC_CALL(rc_tensor_read)(x, numbers, sizeof numbers));
  void* memory = nullptr;
  RC_TRY(RC_CALL(rc_tensor_memory)(x, &memory));
  RC_TRY(made(RC_CALL(rc_tensor_to), x, world.reference.get(), nullptr));
  End end;
  return await(
      RC_CALL(rc_tensor_to_async)(
          x, world.reference.get(), nullptr, world.loop.get(),
          [](void* user, rc_status status, const char*, rc_tensor* moved) {
            rc_tensor_release(moved);
            static_cast<End*>(user)->receive(status);
          },
          &end),
      world.loop.get(), end);
}

rc_status choosing(World& world) {
  TensorHandle outline;
  RC_TRY(keep(outline, RC_CALL(rc_tensor_outline), world.cpu.get(),
              RC_DTYPE_F32, kShape, 2));
  TensorHandle sum;
  RC_TRY(keep(sum, RC_CALL(rc_op_add), outline.get(), outline.get()));
  char* json = nullptr;
  RC_TRY(RC_CALL(rc_op_choose)(sum.get(), &json));
  rc_free(json);
  return RC_OK;
}

rc_status pairs(World& world) {
  rc_tensor* const x = world.x.get();
  rc_tensor* const y = world.y.get();
  RC_TRY(made(RC_CALL(rc_op_add), x, y));
  RC_TRY(made(RC_CALL(rc_op_sub), x, y));
  RC_TRY(made(RC_CALL(rc_op_mul), x, y));
  RC_TRY(made(RC_CALL(rc_op_div), x, y));
  RC_TRY(made(RC_CALL(rc_op_pow), x, y));
  RC_TRY(made(RC_CALL(rc_op_minimum), x, y));
  RC_TRY(made(RC_CALL(rc_op_maximum), x, y));
  RC_TRY(made(RC_CALL(rc_op_equal), x, y));
  RC_TRY(made(RC_CALL(rc_op_not_equal), x, y));
  RC_TRY(made(RC_CALL(rc_op_less), x, y));
  RC_TRY(made(RC_CALL(rc_op_less_equal), x, y));
  RC_TRY(made(RC_CALL(rc_op_greater), x, y));
  TensorHandle condition;
  RC_TRY(keep(condition, RC_CALL(rc_op_greater_equal), x, y));
  RC_TRY(made(RC_CALL(rc_op_where), condition.get(), x, y));
  TensorHandle target, into;
  RC_TRY(keep(target, RC_CALL(rc_tensor_create), world.cpu.get(), RC_DTYPE_F32,
              kShape, 2));
  RC_TRY(keep(into, RC_CALL(rc_op_into), x, target.get()));
  return made(RC_CALL(rc_op_add), into.get(), y);
}

rc_status elements(World& world) {
  rc_tensor* const x = world.x.get();
  RC_TRY(made(RC_CALL(rc_op_relu), x));
  RC_TRY(made(RC_CALL(rc_op_sigmoid), x));
  RC_TRY(made(RC_CALL(rc_op_silu), x));
  RC_TRY(made(RC_CALL(rc_op_gelu), x));
  RC_TRY(made(RC_CALL(rc_op_gelu_tanh), x));
  RC_TRY(made(RC_CALL(rc_op_gelu_quick), x));
  RC_TRY(made(RC_CALL(rc_op_tanh), x));
  RC_TRY(made(RC_CALL(rc_op_exp), x));
  RC_TRY(made(RC_CALL(rc_op_log), x));
  RC_TRY(made(RC_CALL(rc_op_sqrt), x));
  RC_TRY(made(RC_CALL(rc_op_abs), x));
  return made(RC_CALL(rc_op_neg), x);
}

rc_status products(World& world) {
  rc_tensor* const x = world.x.get();
  TensorHandle turned, image, window;
  RC_TRY(keep(turned, RC_CALL(rc_tensor_transpose), world.y.get(), 0, 1));
  RC_TRY(made(RC_CALL(rc_op_matmul), x, turned.get()));
  RC_TRY(made(RC_CALL(rc_op_matmul_transposed), x, world.y.get()));
  RC_TRY(made(RC_CALL(rc_op_matmul_quantized), x, world.blocks.get()));
  RC_TRY(made(RC_CALL(rc_op_fused_linear), x, world.y.get(), nullptr,
              RC_FUNCTION_RELU));
  constexpr int64_t kWindow[] = {1, 1, 3, 3};
  RC_TRY(keep(image, RC_CALL(rc_tensor_reshape), x, kImage, 4));
  RC_TRY(keep(window, RC_CALL(rc_tensor_ones), world.cpu.get(), RC_DTYPE_F32,
              kWindow, 4));
  RC_TRY(
      made(RC_CALL(rc_op_conv2d), image.get(), window.get(), nullptr, nullptr));
  RC_TRY(made(RC_CALL(rc_op_quantize), x, RC_DTYPE_Q4_0));
  return made(RC_CALL(rc_op_dequantize), world.blocks.get());
}

rc_status layers(World& world) {
  rc_tensor* const x = world.x.get();
  rc_tensor* const ones = world.ones.get();
  RC_TRY(made(RC_CALL(rc_op_softmax), x, 1));
  RC_TRY(made(RC_CALL(rc_op_rms_norm), x, ones, 1e-5f));
  RC_TRY(made(RC_CALL(rc_op_layer_norm), x, ones, nullptr, 1e-5f));
  // Two rows of four heads.
  constexpr int64_t kHeads[] = {2, 4, 16};
  TensorHandle heads;
  RC_TRY(keep(heads, RC_CALL(rc_tensor_reshape), x, kHeads, 3));
  RC_TRY(made(RC_CALL(rc_op_rope), heads.get(), world.ids.get(), nullptr,
              nullptr));
  RC_TRY(made(RC_CALL(rc_op_attention), heads.get(), heads.get(), heads.get(),
              nullptr));
  return made(RC_CALL(rc_op_gather_rows), x, world.ids.get());
}

rc_status arrangements(World& world) {
  rc_tensor* const x = world.x.get();
  RC_TRY(made(RC_CALL(rc_op_reduce_sum), x, 1, 0));
  RC_TRY(made(RC_CALL(rc_op_reduce_mean), x, RC_ALL_DIMENSIONS, 0));
  RC_TRY(made(RC_CALL(rc_op_reduce_max), x, 0, 1));
  RC_TRY(made(RC_CALL(rc_op_argmax), x, 1, 0));
  rc_tensor* both[] = {x, world.y.get()};
  RC_TRY(made(RC_CALL(rc_op_concat), both, 2, 0));
  RC_TRY(made(RC_CALL(rc_op_pad), x, 1, 1, 2, 0.5f));
  RC_TRY(made(RC_CALL(rc_op_cumsum), x, 0));
  RC_TRY(made(RC_CALL(rc_op_sort), x, 1, 1));
  RC_TRY(made(RC_CALL(rc_op_argsort), x, 1, 0));
  RC_TRY(made(RC_CALL(rc_op_topk), x, 3, 1));
  TensorHandle indices;
  RC_TRY(keep(indices, RC_CALL(rc_op_argtopk), x, 3, 1));
  return made(RC_CALL(rc_op_take_along), x, indices.get(), 1);
}

rc_status custom_ops(World& world) {
  rc_custom_op_options options = RC_CUSTOM_OP_OPTIONS_INIT;
  options.name = "doubled";
  options.signature = "x F32 [..., n] -> y F32 [..., n]";
  options.items = "elements(x)";
  int released = 0;
  options.user = &released;
  options.release = [](void* user) { ++*static_cast<int*>(user); };
  options.function = [](void*, const rc_custom_call* call, char*) -> rc_status {
    const auto* x = static_cast<const float*>(call->inputs[0]->data);
    auto* y = static_cast<float*>(call->outputs[0]->data);
    for (int64_t i = call->begin; i < call->end; ++i) y[i] = 2.0f * x[i];
    return RC_OK;
  };
  rc_custom_op* op = nullptr;
  RC_TRY(RC_CALL(rc_custom_op_create)(&options, &op));
  RC_CALL(rc_custom_op_release)(RC_CALL(rc_custom_op_retain)(op));
  rc_tensor* inputs[] = {world.x.get()};
  rc_tensor* output = nullptr;
  const rc_status status =
      RC_CALL(rc_custom_op_compute)(op, inputs, 1, nullptr, 0, &output, 1);
  rc_tensor_release(output);
  rc_custom_op_release(op);
  EXPECT_EQ(released, 1);
  return status;
}

}  // namespace

std::vector<Scenario> tensor_scenarios() {
  return {{"making_tensors", making},     {"asking_tensors", asking},
          {"choosing", choosing},         {"pairs", pairs, 100},
          {"elements", elements, 100},    {"products", products, 200},
          {"layers", layers, 200},        {"arrangements", arrangements, 200},
          {"custom_ops", custom_ops, 500}};
}

}  // namespace rc::test
