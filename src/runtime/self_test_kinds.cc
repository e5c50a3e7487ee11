// The kinds that stand for everything that a device can claim.
#include <vector>

#include "runtime/self_test_case.h"
#include "runtime/self_test_plain.h"
#include "runtime/self_test_tensors.h"
#include "tensor/dtype.h"

namespace rc::runtime {
namespace {

using Kind = SelfTest::Kind;
using Kinds = std::vector<Kind>;

constexpr DType kLastType = RC_DTYPE_Q1_0;
constexpr DType kCacheTypes[] = {RC_DTYPE_F32, RC_DTYPE_F16, RC_DTYPE_Q8_0};

std::vector<DType> decodable_types() {
  std::vector<DType> types;
  for (DType dtype = 0; dtype <= kLastType; ++dtype) {
    if (dtype_info(dtype) != nullptr && find_decoder(dtype) != nullptr) {
      types.push_back(dtype);
    }
  }
  return types;
}

void add_row_ops(Kinds& kinds) {
  const int64_t without_details[] = {
      RC_OP_RMS_NORM, RC_OP_GROUP_NORM, RC_OP_LAYER_NORM, RC_OP_AFFINE,
      RC_OP_JOIN,     RC_OP_SPARSE_MIX, RC_OP_EXPERT_SUM};
  for (const int64_t code : without_details) {
    kinds.push_back({code});
  }
  for (const Kind& kind : self_test::elementwise_kinds()) kinds.push_back(kind);
  for (int64_t function = RC_FUNCTION_RELU; function <= RC_FUNCTION_GELU_QUICK;
       ++function) {
    kinds.push_back({RC_OP_UNARY, function});
    kinds.push_back({RC_OP_GLU, function, 0});
  }
  kinds.push_back({RC_OP_GLU, RC_FUNCTION_GELU_QUICK, 1});
  kinds.push_back({RC_OP_ROPE, RC_ROPE_ADJACENT});
  kinds.push_back({RC_OP_ROPE, RC_ROPE_HALVES});
  for (const int64_t normalize : {0, 1}) {
    kinds.push_back({RC_OP_ROUTE, 0, normalize});
    for (const int64_t score : {RC_SCORE_SOFTMAX, RC_SCORE_SIGMOID}) {
      kinds.push_back({RC_OP_CHOOSE, score, normalize});
      for (const int64_t best : {1, 2}) {
        kinds.push_back({RC_OP_CHOOSE_IN_GROUPS, score, normalize, best});
      }
    }
  }
}

void add_caches(Kinds& kinds) {
  for (const DType dtype : kCacheTypes) {
    kinds.push_back({RC_OP_CACHE_STORE, dtype});
    for (const int64_t head : {32, 64, 96, 128, 256}) {
      kinds.push_back({RC_OP_ATTENTION, dtype, head, 0, 0});
    }
    kinds.push_back({RC_OP_ATTENTION, dtype, 64, 1, 0});
    kinds.push_back({RC_OP_ATTENTION, dtype, 64, 0, 1});
    // Values within keys, of another length, and with all that positions add.
    kinds.push_back({RC_OP_GENERAL_ATTENTION, dtype, 64, 0, 0});
    kinds.push_back({RC_OP_GENERAL_ATTENTION, dtype, 64, 32, 0});
    kinds.push_back({RC_OP_GENERAL_ATTENTION, dtype, 64, 64, 1});
  }
  // A head of one element, which Q8_0 cannot have.
  kinds.push_back({RC_OP_ATTENTION, RC_DTYPE_F32, 1, 0, 0});
  kinds.push_back({RC_OP_SHORT_CONV, 3, RC_FUNCTION_NONE});
  kinds.push_back({RC_OP_SHORT_CONV, 4, RC_FUNCTION_SILU});
  for (const int64_t columns : {16, 64, 128}) {
    kinds.push_back({RC_OP_SELECTIVE_SCAN, columns});
    kinds.push_back({RC_OP_CHANNEL_SCAN, columns});
    kinds.push_back({RC_OP_DELTA_RULE, columns, columns == 64});
    kinds.push_back({RC_OP_COLUMN_DELTA_RULE, columns});
    kinds.push_back({RC_OP_FADING_STATE, columns, 0});
    kinds.push_back({RC_OP_FADING_STATE, columns, 1});
  }
}

void add_types(Kinds& kinds) {
  for (const DType dtype : decodable_types()) {
    kinds.push_back({RC_OP_LINEAR, dtype});
    kinds.push_back({RC_OP_EXPERT_LINEAR, dtype});
    kinds.push_back({RC_OP_GET_ROWS, dtype, 0});
    // A table of F64 is not decoded.
    if (dtype != RC_DTYPE_F64) kinds.push_back({RC_OP_GET_ROWS, dtype, 2});
    kinds.push_back({RC_OP_COPY, dtype});
    kinds.push_back({RC_OP_CONCAT, dtype});
    kinds.push_back({RC_OP_CONVERT, dtype, RC_DTYPE_F32});
    if (encodable(dtype) && dtype != RC_DTYPE_F32) {
      kinds.push_back({RC_OP_CONVERT, RC_DTYPE_F32, dtype});
    }
    for (const int64_t rows : {1, 17}) {
      kinds.push_back({RC_OP_MATMUL, dtype, 1, rows, 17, 256});
    }
  }
  kinds.push_back({RC_OP_GET_ROWS, RC_DTYPE_F32, 1});
  // The shapes and lengths that products of other types share with F32.
  for (const int64_t transposed : {0, 1}) {
    for (const int64_t rows : {1, 3, 17}) {
      for (const int64_t columns : {1, 3, 17}) {
        if (transposed == 1 && rows != 3 && columns == 17) continue;  // above
        kinds.push_back(
            {RC_OP_MATMUL, RC_DTYPE_F32, transposed, rows, columns, 256});
      }
    }
    for (const int64_t length : {20'480, 600'064}) {
      kinds.push_back({RC_OP_MATMUL, RC_DTYPE_F32, transposed, 1, 3, length});
    }
  }
}

void add_tensor_ops(Kinds& kinds) {
  const auto add_functions = [&](int64_t first, int64_t last) {
    for (int64_t function = first; function <= last; ++function) {
      kinds.push_back({RC_OP_UNARY, function, 1});
    }
  };
  add_functions(RC_FUNCTION_RELU, RC_FUNCTION_GELU_QUICK);
  add_functions(RC_UNARY_EXP, RC_UNARY_NEG);
  for (int64_t function = RC_BINARY_ADD; function <= RC_BINARY_GREATER_EQUAL;
       ++function) {
    kinds.push_back({RC_OP_BINARY, function});
  }
  for (const int64_t length : self_test::kLengths) {
    for (const int64_t inner : {1, 3}) {
      // Long lines side by side differ from long ones in nothing new.
      if (length == 600'064 && inner == 3) continue;
      for (const int64_t function :
           {RC_REDUCE_SUM, RC_REDUCE_MEAN, RC_REDUCE_MAX}) {
        kinds.push_back({RC_OP_REDUCE, function, length, inner});
      }
      kinds.push_back({RC_OP_ARGMAX, 0, length, inner});
      kinds.push_back({RC_OP_SOFTMAX, 0, length, inner});
      kinds.push_back({RC_OP_CUMSUM, 0, length, inner});
      kinds.push_back({RC_OP_ORDER, 0, length, inner});
      kinds.push_back({RC_OP_ORDER, 1, length, inner});
    }
  }
  kinds.push_back({RC_OP_LAYER_NORM, 1});
  kinds.push_back({RC_OP_ROPE, RC_ROPE_ADJACENT, 1});
  kinds.push_back({RC_OP_ROPE, RC_ROPE_HALVES, 1});
  kinds.push_back({RC_OP_ATTEND, 0});
  kinds.push_back({RC_OP_ATTEND, 1});
  kinds.push_back({RC_OP_CONV2D});
  kinds.push_back({RC_OP_WHERE});
  kinds.push_back({RC_OP_PAD});
  kinds.push_back({RC_OP_TAKE});
}

}  // namespace

std::vector<Kind> every_kind() {
  Kinds kinds;
  add_row_ops(kinds);
  add_caches(kinds);
  add_types(kinds);
  add_tensor_ops(kinds);
  return kinds;
}

}  // namespace rc::runtime
