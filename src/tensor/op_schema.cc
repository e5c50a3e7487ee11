#include "tensor/op_schema.h"

#include <algorithm>
#include <iterator>

#include "runcible/plugin.h"

namespace rc {
namespace {

constexpr OpSchema kOps[] = {
    {RC_OP_GET_ROWS, "GET_ROWS", 2, 1},
    {RC_OP_RMS_NORM, "RMS_NORM", 2, 1, 0b1},
    {RC_OP_LINEAR, "LINEAR", 4, 1, 0b1000},
    {RC_OP_ROPE, "ROPE", 3, 1, 0b1},
    {RC_OP_CACHE_STORE, "CACHE_STORE", 5, 0},
    {RC_OP_ATTENTION, "ATTENTION", 8, 1},
    {RC_OP_GLU, "GLU", 2, 1, 0b11},
    {RC_OP_ADD, "ADD", 2, 1, 0b11},
    {RC_OP_SCALE, "SCALE", 1, 1, 0b1},
    {RC_OP_SOFTCAP, "SOFTCAP", 1, 1, 0b1},
    {RC_OP_ROUTE, "ROUTE", 1, 2},
    {RC_OP_EXPERT_LINEAR, "EXPERT_LINEAR", 4, 1},
    {RC_OP_EXPERT_SUM, "EXPERT_SUM", 2, 1},
    {RC_OP_SHORT_CONV, "SHORT_CONV", 6, 1},
    {RC_OP_SELECTIVE_SCAN, "SELECTIVE_SCAN", 10, 1},
    {RC_OP_COPY, "COPY", 1, 1},
    {RC_OP_CONVERT, "CONVERT", 1, 1},
    {RC_OP_UNARY, "UNARY", 1, 1},
    {RC_OP_BINARY, "BINARY", 2, 1},
    {RC_OP_LAYER_NORM, "LAYER_NORM", 3, 1},
    {RC_OP_SOFTMAX, "SOFTMAX", 1, 1},
    {RC_OP_REDUCE, "REDUCE", 1, 1},
    {RC_OP_ARGMAX, "ARGMAX", 1, 1},
    {RC_OP_MATMUL, "MATMUL", 3, 1},
    {RC_OP_CONV2D, "CONV2D", 3, 1},
    {RC_OP_ATTEND, "ATTEND", 3, 1},
};

}  // namespace

const OpSchema* find_op(int32_t code) {
  const auto* found =
      std::find_if(std::begin(kOps), std::end(kOps),
                   [code](const OpSchema& op) { return op.code == code; });
  return found == std::end(kOps) ? nullptr : found;
}

}  // namespace rc
