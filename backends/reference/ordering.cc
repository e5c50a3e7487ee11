// Ops for which the order of elements along a dimension counts.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "reference/ops.h"

namespace rc::reference {
namespace {

// NaN is larger than every number.
bool smaller(double a, double b) {
  return a < b || (!std::isnan(a) && std::isnan(b));
}

void cumsum(const Call& call) {
  const Tensor& x = call.inputs[0];
  const int64_t n = x.shape[1];
  const int64_t inner = x.shape[2];
  for (int64_t line = 0; line < x.rows() * inner; ++line) {
    call.check_stop();
    const int64_t first = line / inner * n * inner + line % inner;
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      sum += x.number(first + i * inner);
      call.outputs[0].put(first + i * inner, sum);
    }
  }
}

void order(const Call& call) {
  const Tensor& x = call.inputs[0];
  const Tensor& output = call.outputs[0];
  const int64_t n = x.shape[1];
  const int64_t k = output.shape[1];
  const int64_t inner = x.shape[2];
  const bool falling = call.op.params.order.falling != 0;
  std::vector<int32_t> places(static_cast<size_t>(n));
  for (int64_t line = 0; line < x.rows() * inner; ++line) {
    call.check_stop();
    const int64_t first = line / inner * n * inner + line % inner;
    auto* to = reinterpret_cast<int32_t*>(output.data) +
               line / inner * k * inner + line % inner;
    std::iota(places.begin(), places.end(), 0);
    std::stable_sort(places.begin(), places.end(), [&](int32_t a, int32_t b) {
      const double left = x.number(first + a * inner);
      const double right = x.number(first + b * inner);
      return falling ? smaller(right, left) : smaller(left, right);
    });
    for (int64_t i = 0; i < k; ++i) to[i * inner] = places[i];
  }
}

void take(const Call& call) {
  const Tensor& x = call.inputs[0];
  const Tensor& places = call.inputs[1];
  const int64_t n = x.shape[1];
  const int64_t k = places.shape[1];
  const int64_t inner = x.shape[2];
  for (int64_t i = 0; i < places.size(); ++i) {
    if (i % inner == 0) call.check_stop();
    const int32_t place = places.numbers()[i];
    if (place < 0 || place >= n) {
      fail(RC_E_INVALID_ARGUMENT, op_name(call.op.code), ": element ", i,
           " asks for place ", place, " of ", n);
    }
    const int64_t outer = i / (k * inner);
    const int64_t from = (outer * n + place) * inner + i % inner;
    const auto bytes = static_cast<size_t>(dtype_info(x.dtype)->block_bytes);
    std::memcpy(call.outputs[0].data + static_cast<size_t>(i) * bytes,
                x.data + static_cast<size_t>(from) * bytes, bytes);
  }
}

}  // namespace

std::span<const OpRow> ordering_ops() {
  static constexpr OpRow kOps[] = {
      {RC_OP_CUMSUM, cumsum}, {RC_OP_ORDER, order}, {RC_OP_TAKE, take}};
  return kOps;
}

}  // namespace rc::reference
