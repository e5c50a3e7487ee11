#include "choice_kinds.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace rc::bench {
namespace {

using Shape = std::vector<int64_t>;

Tensor random_tensor(rc_backend* backend, const Shape& shape) {
  rc_random_options options = RC_RANDOM_OPTIONS_INIT;
  options.distribution = RC_RANDOM_UNIFORM;
  options.low = 0.1f;
  options.high = 2;
  return make(rc_tensor_random, backend, shape.data(),
              static_cast<int32_t>(shape.size()),
              static_cast<const rc_random_options*>(&options));
}

int64_t side_of(double elements) {
  return std::max<int64_t>(1, std::llround(std::sqrt(elements)));
}
int64_t count_of(double elements) { return std::llround(elements); }

template <int count>
std::vector<Tensor> flat(rc_backend* backend, double elements) {
  std::vector<Tensor> operands;
  for (int i = 0; i < count; ++i) {
    operands.push_back(random_tensor(backend, {count_of(elements)}));
  }
  return operands;
}
std::vector<Tensor> lines(rc_backend* backend, double elements) {
  const int64_t length = std::clamp<int64_t>(count_of(elements / 8), 1, 1000);
  std::vector<Tensor> operands;
  operands.push_back(
      random_tensor(backend, {count_of(elements) / length, length}));
  return operands;
}
template <int count>
std::vector<Tensor> squares(rc_backend* backend, double elements) {
  const int64_t side = side_of(elements);
  std::vector<Tensor> operands;
  for (int i = 0; i < count; ++i) {
    operands.push_back(random_tensor(backend, {side, side}));
  }
  return operands;
}
// x of some rows and a weight of so many elements in the type.
template <int dtype>
std::vector<Tensor> weight(rc_backend* backend, double elements, int64_t rows) {
  const int64_t depth = elements < 1e5 ? 256 : 1024;
  const int64_t width = std::max<int64_t>(1, count_of(elements) / depth);
  std::vector<Tensor> operands;
  operands.push_back(random_tensor(backend, {rows, depth}));
  const Tensor numbers = random_tensor(backend, {width, depth});
  operands.push_back(make(rc_op_quantize, numbers.get(), rc_dtype{dtype}));
  return operands;
}

using UnaryOp = rc_status (*)(rc_tensor*, rc_tensor**);
using BinaryOp = rc_status (*)(rc_tensor*, rc_tensor*, rc_tensor**);

Kind unary(const char* name, UnaryOp op) {
  return {name, flat<1>,
          [op](const std::vector<Tensor>& x) { return make(op, x[0].get()); }};
}
Kind binary(const char* name, BinaryOp op) {
  return {name, flat<2>, [op](const std::vector<Tensor>& x) {
            return make(op, x[0].get(), x[1].get());
          }};
}

}  // namespace

std::vector<Kind> kinds() {
  std::vector<Kind> all = {
      binary("add", rc_op_add),  binary("pow", rc_op_pow),
      unary("relu", rc_op_relu), unary("exp", rc_op_exp),
      unary("gelu", rc_op_gelu),
  };
  all.push_back({"softmax", lines, [](const std::vector<Tensor>& x) {
                   return make(rc_op_softmax, x[0].get(), 1);
                 }});
  all.push_back(
      {"softmax across", squares<1>, [](const std::vector<Tensor>& x) {
         return make(rc_op_softmax, x[0].get(), 0);
       }});
  all.push_back({"layer_norm", lines, [](const std::vector<Tensor>& x) {
                   return make(rc_op_layer_norm, x[0].get(),
                               static_cast<rc_tensor*>(nullptr),
                               static_cast<rc_tensor*>(nullptr), 1e-5f);
                 }});
  all.push_back({"sum", flat<1>, [](const std::vector<Tensor>& x) {
                   return make(rc_op_reduce_sum, x[0].get(), RC_ALL_DIMENSIONS,
                               0);
                 }});
  all.push_back({"sum of lines", lines, [](const std::vector<Tensor>& x) {
                   return make(rc_op_reduce_sum, x[0].get(), 1, 0);
                 }});
  all.push_back({"argmax", squares<1>, [](const std::vector<Tensor>& x) {
                   return make(rc_op_argmax, x[0].get(), 1, 0);
                 }});
  all.push_back({"transpose", squares<1>, [](const std::vector<Tensor>& x) {
                   const Tensor view =
                       make(rc_tensor_transpose, x[0].get(), 0, 1);
                   const int64_t all_of_it[] = {-1};
                   return make(rc_tensor_reshape, view.get(),
                               static_cast<const int64_t*>(all_of_it), 1);
                 }});
  all.push_back({"matmul", squares<2>,
                 [](const std::vector<Tensor>& x) {
                   return make(rc_op_matmul, x[0].get(), x[1].get());
                 },
                 1.5, 2e6});
  all.push_back({"matmul of a row, F16",
                 [](rc_backend* backend, double elements) {
                   return weight<RC_DTYPE_F16>(backend, elements, 1);
                 },
                 [](const std::vector<Tensor>& x) {
                   return make(rc_op_matmul_transposed, x[0].get(), x[1].get());
                 }});
  all.push_back({"matmul of 32 rows, Q8_0",
                 [](rc_backend* backend, double elements) {
                   return weight<RC_DTYPE_Q8_0>(backend, elements, 32);
                 },
                 [](const std::vector<Tensor>& x) {
                   return make(rc_op_matmul_quantized, x[0].get(), x[1].get());
                 }});
  all.push_back(
      {"conv2d",
       [](rc_backend* backend, double elements) {
         const int64_t side = std::max<int64_t>(3, side_of(elements / 16));
         std::vector<Tensor> operands;
         operands.push_back(random_tensor(backend, {1, 16, side, side}));
         operands.push_back(random_tensor(backend, {16, 16, 3, 3}));
         return operands;
       },
       [](const std::vector<Tensor>& x) {
         return make(rc_op_conv2d, x[0].get(), x[1].get(),
                     static_cast<rc_tensor*>(nullptr),
                     static_cast<const rc_conv2d_options*>(nullptr));
       }});
  all.push_back(
      {"attention",
       [](rc_backend* backend, double elements) {
         const int64_t rows = std::max<int64_t>(1, count_of(elements / 256));
         std::vector<Tensor> operands;
         for (int i = 0; i < 3; ++i) {
           operands.push_back(random_tensor(backend, {rows, 4, 64}));
         }
         return operands;
       },
       [](const std::vector<Tensor>& x) {
         return make(rc_op_attention, x[0].get(), x[1].get(), x[2].get(),
                     static_cast<const rc_attention_options*>(nullptr));
       },
       2, 1e6});
  return all;
}

}  // namespace rc::bench
