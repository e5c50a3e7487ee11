// Products of tensors.
#include <algorithm>
#include <cmath>

#include "reference/ops.h"
#include "tensor/wide.h"

namespace rc::reference {
namespace {

// A vector of b, of whatever type.
void decode_column(const Tensor& b, int64_t index,
                   std::vector<double>& column) {
  if (b.dtype == RC_DTYPE_F64) {
    decode_row(b.dtype, b.vector(index), column.data(), b.columns());
    return;
  }
  std::vector<float> floats(column.size());
  b.decode(index, floats.data());
  std::copy(floats.begin(), floats.end(), column.begin());
}

void matmul(const Call& call) {
  const Tensor& a = call.inputs[0];
  const Tensor& b = call.inputs[1];
  const Tensor& bias = call.inputs[2];
  const Tensor& output = call.outputs[0];
  const auto& params = call.op.params.matmul;
  const int64_t m = a.shape[1];
  const int64_t k = a.shape[2];
  const int64_t n = output.shape[2];
  const bool wide = output.dtype == RC_DTYPE_F64;
  std::vector<double> column(k);
  for (int64_t batch = 0; batch < a.shape[0]; ++batch) {
    const int64_t from = b.shape[0] == 1 ? 0 : batch;
    for (int64_t j = 0; j < n; ++j) {
      call.check_stop();
      if (params.transposed != 0) {
        decode_column(b, from * n + j, column);
      } else {
        for (int64_t i = 0; i < k; ++i) {
          column[i] = b.number((from * k + i) * n + j);
        }
      }
      for (int64_t r = 0; r < m; ++r) {
        const int64_t row = (batch * m + r) * k;
        double sum = 0;
        for (int64_t i = 0; i < k; ++i) sum += a.number(row + i) * column[i];
        // Rounded as op by op: a graph that has made one op of several gives
        // the same bits. Of halves it makes none.
        const auto rounded = [&](double x) {
          return wide ? x : static_cast<double>(static_cast<float>(x));
        };
        double result = rounded(sum);
        if (bias) result = rounded(result + bias.number(j));
        if (params.function != RC_FUNCTION_NONE) {
          result = rounded(apply(params.function, result));
        }
        output.put((batch * m + r) * n + j, result);
      }
    }
  }
}

void conv2d(const Call& call) {
  const Tensor& x = call.inputs[0];
  const Tensor& weight = call.inputs[1];
  const Tensor& bias = call.inputs[2];
  const Tensor& output = call.outputs[0];
  const auto& params = call.op.params.conv2d;
  const int64_t channels = weight.shape[1];  // of a group
  const int64_t group_outputs = weight.shape[0] / params.groups;
  const int64_t rows = x.shape[2];
  const int64_t columns = x.shape[3];
  float* to = output.floats();
  for (int64_t plane = 0; plane < output.shape[0] * output.shape[1]; ++plane) {
    const int64_t o = plane % output.shape[1];
    const int64_t first =
        plane / output.shape[1] * x.shape[1] + o / group_outputs * channels;
    for (int64_t i = 0; i < output.shape[2]; ++i) {
      call.check_stop();
      for (int64_t j = 0; j < output.shape[3]; ++j) {
        double sum = bias ? bias.floats()[o] : 0;
        const float* w = weight.floats() + o * weight.row_size();
        for (int64_t c = 0; c < channels; ++c) {
          for (int64_t u = 0; u < weight.shape[2]; ++u) {
            for (int64_t v = 0; v < weight.shape[3]; ++v, ++w) {
              const int64_t row = i * params.stride[0] +
                                  u * params.dilation[0] - params.padding[0];
              const int64_t column = j * params.stride[1] +
                                     v * params.dilation[1] - params.padding[1];
              if (row < 0 || row >= rows || column < 0 || column >= columns) {
                continue;
              }
              sum += static_cast<double>(*w) *
                     x.floats()[((first + c) * rows + row) * columns + column];
            }
          }
        }
        *to++ = static_cast<float>(sum);
      }
    }
  }
}

void attend(const Call& call) {
  const Tensor& q = call.inputs[0];
  const Tensor& k = call.inputs[1];
  const Tensor& v = call.inputs[2];
  const auto& params = call.op.params.attend;
  const int64_t rows = q.shape[1];
  const int64_t positions = k.shape[1];
  const int64_t heads = q.shape[2];
  const int64_t kv_heads = k.shape[2];
  const int64_t d = q.shape[3];
  std::vector<double> scores;
  std::vector<double> sum(d);
  for (int64_t vector = 0; vector < q.vectors(); ++vector) {
    call.check_stop();
    const int64_t h = vector % heads;
    const int64_t r = vector / heads % rows;
    const int64_t batch = vector / heads / rows;
    const int64_t seen =
        params.causal != 0 ? positions - rows + r + 1 : positions;
    const float* query = q.floats() + vector * d;
    // Of position p of this head.
    const auto at = [&](const Tensor& tensor, int64_t p) {
      return tensor.floats() +
             ((batch * positions + p) * kv_heads + h / (heads / kv_heads)) * d;
    };
    scores.clear();
    for (int64_t p = 0; p < seen; ++p) {
      double score = 0;
      for (int64_t i = 0; i < d; ++i) {
        score += static_cast<double>(query[i]) * at(k, p)[i];
      }
      score *= params.scale;
      if (params.softcap > 0) {
        score = params.softcap * std::tanh(score / params.softcap);
      }
      scores.push_back(score);
    }
    const double most = *std::max_element(scores.begin(), scores.end());
    double total = 0;
    std::fill(sum.begin(), sum.end(), 0);
    for (int64_t p = 0; p < seen; ++p) {
      const double share = std::exp(scores[p] - most);
      for (int64_t i = 0; i < d; ++i) sum[i] += share * at(v, p)[i];
      total += share;
    }
    for (int64_t i = 0; i < d; ++i) {
      call.outputs[0].floats()[vector * d + i] =
          static_cast<float>(sum[i] / total);
    }
  }
}

}  // namespace

std::span<const OpRow> product_ops() {
  static constexpr OpRow kOps[] = {
      {RC_OP_MATMUL, matmul}, {RC_OP_CONV2D, conv2d}, {RC_OP_ATTEND, attend}};
  return kOps;
}

}  // namespace rc::reference
