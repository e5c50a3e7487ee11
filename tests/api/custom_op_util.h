// Custom ops for tests.
#pragma once

#include <cstdint>
#include <memory>

#include "runcible/custom_op.h"
#include "tensor_util.h"

namespace rc::test {

using CustomOp = std::unique_ptr<rc_custom_op, Release<rc_custom_op_release>>;

inline const float* floats(const rc_op_value* value) {
  return static_cast<const float*>(value->data);
}

// y = x * scale + shift, row by row.
inline rc_status scale_rows(void*, const rc_custom_call* call, char*) {
  const int64_t columns = call->inputs[1]->shape[0];
  const float* x = floats(call->inputs[0]);
  const float* scale = floats(call->inputs[1]);
  auto* y = static_cast<float*>(call->outputs[0]->data);
  for (int64_t i = call->begin * columns; i < call->end * columns; ++i) {
    y[i] = x[i] * scale[i % columns] + static_cast<float>(call->attributes[0]);
  }
  return RC_OK;
}

inline rc_custom_op_options scale_options() {
  rc_custom_op_options options = RC_CUSTOM_OP_OPTIONS_INIT;
  options.name = "scale_rows";
  options.signature = "x F32 [..., n], scale F32 [n] -> y F32 [..., n]";
  options.attributes = "shift float";
  options.function = scale_rows;
  options.items = "elements(x) / max(n, 1)";
  return options;
}

inline CustomOp create(const rc_custom_op_options& options) {
  rc_custom_op* op = nullptr;
  EXPECT_OK(rc_custom_op_create(&options, &op));
  return CustomOp(op);
}

inline rc_status compute(const CustomOp& op,
                         const std::vector<rc_tensor*>& inputs,
                         const std::vector<double>& attributes,
                         std::vector<Tensor>* outputs, size_t count = 1) {
  std::vector<rc_tensor*> made(count, reinterpret_cast<rc_tensor*>(1));
  const rc_status status = rc_custom_op_compute(
      op.get(), inputs.data(), inputs.size(), attributes.data(),
      attributes.size(), made.data(), made.size());
  for (rc_tensor* tensor : made) {
    EXPECT_EQ(tensor == nullptr, status != RC_OK);
    outputs->emplace_back(tensor);
  }
  return status;
}

class CustomOpTest : public testing::TestWithParam<const char*> {
 protected:
  const Backend backend_ = open_backend(GetParam());
  std::vector<Tensor> made_;
};

}  // namespace rc::test
