// Ops that carry a state from row to row of a sequence.
#include <algorithm>
#include <cmath>
#include <vector>

#include "reference/ops.h"

namespace rc::reference {
namespace {

// The states of the sequences of a run.
class States {
 public:
  // sequences, state_slots and the cache are the inputs from `slot` on.
  States(const Call& call, const char* op, int slot)
      : op_(op),
        sequences_(call.inputs[slot]),
        slots_(call.inputs[slot + 1]),
        cache_(call.inputs[slot + 2]),
        count_(call.sequences) {
    check_rows();
  }

  int64_t count() const { return count_; }
  bool has_row(int64_t sequence, int64_t row) const {
    return sequences_.numbers()[row] == sequence;
  }
  std::vector<float> read(int64_t sequence) const {
    const int32_t from = slots_.numbers()[2 * sequence];
    if (from == -1) {
      return std::vector<float>(static_cast<size_t>(cache_.row_size()));
    }
    const float* state = at(sequence, from);
    return {state, state + cache_.row_size()};
  }
  void write(int64_t sequence, const std::vector<float>& state) const {
    std::copy(state.begin(), state.end(),
              at(sequence, slots_.numbers()[2 * sequence + 1]));
  }

 private:
  void check_rows() const {
    for (int64_t r = 0; r < sequences_.rows(); ++r) {
      const int32_t sequence = sequences_.numbers()[r];
      if (sequence < 0 || sequence >= count_) {
        fail(RC_E_INVALID_ARGUMENT, op_, ": row ", r, " belongs to sequence ",
             sequence, " of ", count_);
      }
    }
  }
  float* at(int64_t sequence, int32_t slot) const {
    if (slot < 0 || slot >= cache_.rows()) {
      fail(RC_E_INVALID_ARGUMENT, op_, ": the state of sequence ", sequence,
           " is in slot ", slot, " of ", cache_.rows());
    }
    return cache_.floats() + slot * cache_.row_size();
  }

  const char* op_;
  const Tensor& sequences_;
  const Tensor& slots_;
  const Tensor& cache_;
  int64_t count_;
};

double softplus(double x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

void short_conv(const Call& call) {
  const Tensor& x = call.inputs[0];
  const Tensor& weight = call.inputs[1];
  const Tensor& bias = call.inputs[2];
  const States states(call, "SHORT_CONV", 3);
  const int64_t d = x.columns();
  const int64_t width = weight.columns();
  const int32_t function = call.op.params.short_conv.function;
  for (int64_t s = 0; s < states.count(); ++s) {
    std::vector<float> rows = states.read(s);  // the last width - 1
    for (int64_t r = 0; r < x.rows(); ++r) {
      if (!states.has_row(s, r)) continue;
      call.check_stop();
      const float* row = x.floats() + r * d;
      rows.insert(rows.end(), row, row + d);
      for (int64_t c = 0; c < d; ++c) {
        double sum = bias ? bias.floats()[c] : 0.0;
        for (int64_t i = 0; i < width; ++i) {
          sum += static_cast<double>(weight.floats()[c * width + i]) *
                 rows[static_cast<size_t>(i * d + c)];
        }
        call.outputs[0].floats()[r * d + c] =
            static_cast<float>(apply(function, sum));
      }
      rows.erase(rows.begin(), rows.begin() + d);
    }
    states.write(s, rows);
  }
}

void selective_scan(const Call& call) {
  const Tensor& x = call.inputs[0];
  const Tensor& steps = call.inputs[1];
  const Tensor& b = call.inputs[2];
  const Tensor& c = call.inputs[3];
  const float* step_bias = call.inputs[4].floats();
  const float* decay = call.inputs[5].floats();
  const float* skip = call.inputs[6].floats();
  const States states(call, "SELECTIVE_SCAN", 7);
  const int64_t heads = x.shape[1];
  const int64_t p = x.shape[2];
  const int64_t groups = b.shape[1];
  const int64_t n = b.shape[2];
  for (int64_t s = 0; s < states.count(); ++s) {
    std::vector<float> state = states.read(s);
    for (int64_t r = 0; r < x.rows(); ++r) {
      if (!states.has_row(s, r)) continue;
      call.check_stop();
      for (int64_t h = 0; h < heads; ++h) {
        const int64_t group = r * groups + h / (heads / groups);
        const float* into = b.floats() + group * n;
        const float* out = c.floats() + group * n;
        const double t = softplus(
            static_cast<double>(steps.floats()[r * heads + h]) + step_bias[h]);
        const double kept = std::exp(t * decay[h]);
        for (int64_t i = 0; i < p; ++i) {
          const int64_t at = (r * heads + h) * p + i;
          const double value = x.floats()[at];
          float* row = state.data() + (h * p + i) * n;
          double sum = skip[h] * value;
          for (int64_t j = 0; j < n; ++j) {
            row[j] = static_cast<float>(kept * row[j] + t * value * into[j]);
            sum += static_cast<double>(row[j]) * out[j];
          }
          call.outputs[0].floats()[at] = static_cast<float>(sum);
        }
      }
    }
    states.write(s, state);
  }
}

void channel_scan(const Call& call) {
  const Tensor& x = call.inputs[0];
  const Tensor& steps = call.inputs[1];
  const float* decay = call.inputs[4].floats();
  const float* skip = call.inputs[5].floats();
  const States states(call, "CHANNEL_SCAN", 6);
  const int64_t d = x.shape[1];
  const int64_t n = call.inputs[2].shape[1];
  for (int64_t s = 0; s < states.count(); ++s) {
    std::vector<float> state = states.read(s);
    for (int64_t r = 0; r < x.rows(); ++r) {
      if (!states.has_row(s, r)) continue;
      call.check_stop();
      const float* into = call.inputs[2].floats() + r * n;
      const float* out = call.inputs[3].floats() + r * n;
      for (int64_t i = 0; i < d; ++i) {
        const double value = x.floats()[r * d + i];
        const double t = softplus(steps.floats()[r * d + i]);
        float* row = state.data() + i * n;
        double sum = skip[i] * value;
        for (int64_t j = 0; j < n; ++j) {
          row[j] = static_cast<float>(std::exp(t * decay[i * n + j]) * row[j] +
                                      t * value * into[j]);
          sum += static_cast<double>(row[j]) * out[j];
        }
        call.outputs[0].floats()[r * d + i] = static_cast<float>(sum);
      }
    }
    states.write(s, state);
  }
}

void delta_rule(const Call& call) {
  const Tensor& v = call.inputs[0];
  const float* step_bias = call.inputs[5].floats();
  const float* decay = call.inputs[6].floats();
  const States states(call, "DELTA_RULE", 7);
  const int64_t heads = v.shape[1];
  const int64_t p = v.shape[2];
  const int64_t groups = call.inputs[1].shape[1];
  const int64_t n = call.inputs[1].shape[2];
  const bool interleaved = call.op.params.delta_rule.interleaved != 0;
  for (int64_t s = 0; s < states.count(); ++s) {
    std::vector<float> state = states.read(s);
    for (int64_t r = 0; r < v.rows(); ++r) {
      if (!states.has_row(s, r)) continue;
      call.check_stop();
      for (int64_t h = 0; h < heads; ++h) {
        const int64_t group =
            r * groups + (interleaved ? h % groups : h / (heads / groups));
        const float* q = call.inputs[1].floats() + group * n;
        const float* k = call.inputs[2].floats() + group * n;
        const int64_t head = r * heads + h;
        const double t = softplus(
            static_cast<double>(call.inputs[3].floats()[head]) + step_bias[h]);
        const double kept = std::exp(t * decay[h]);
        const double rate = call.inputs[4].floats()[head];
        for (int64_t i = 0; i < p; ++i) {
          float* row = state.data() + (h * p + i) * n;
          double known = 0;
          for (int64_t j = 0; j < n; ++j) known += kept * row[j] * k[j];
          const double change = rate * (v.floats()[head * p + i] - known);
          double sum = 0;
          for (int64_t j = 0; j < n; ++j) {
            row[j] = static_cast<float>(kept * row[j] + change * k[j]);
            sum += static_cast<double>(row[j]) * q[j];
          }
          call.outputs[0].floats()[head * p + i] = static_cast<float>(sum);
        }
      }
    }
    states.write(s, state);
  }
}

void column_delta_rule(const Call& call) {
  const Tensor& v = call.inputs[0];
  const float* step_bias = call.inputs[5].floats();
  const float* decay = call.inputs[6].floats();
  const States states(call, "COLUMN_DELTA_RULE", 7);
  const int64_t heads = v.shape[1];
  const int64_t p = v.shape[2];
  const int64_t n = call.inputs[1].shape[2];
  std::vector<double> kept(static_cast<size_t>(n));
  for (int64_t s = 0; s < states.count(); ++s) {
    std::vector<float> state = states.read(s);
    for (int64_t r = 0; r < v.rows(); ++r) {
      if (!states.has_row(s, r)) continue;
      call.check_stop();
      for (int64_t h = 0; h < heads; ++h) {
        const int64_t head = r * heads + h;
        const float* q = call.inputs[1].floats() + head * n;
        const float* k = call.inputs[2].floats() + head * n;
        const float* steps = call.inputs[3].floats() + head * n;
        const double rate = call.inputs[4].floats()[head];
        for (int64_t j = 0; j < n; ++j) {
          const double t =
              softplus(static_cast<double>(steps[j]) + step_bias[h * n + j]);
          kept[static_cast<size_t>(j)] = std::exp(t * decay[h]);
        }
        for (int64_t i = 0; i < p; ++i) {
          float* row = state.data() + (h * p + i) * n;
          double known = 0;
          for (int64_t j = 0; j < n; ++j) {
            known += kept[static_cast<size_t>(j)] * row[j] * k[j];
          }
          const double change = rate * (v.floats()[head * p + i] - known);
          double sum = 0;
          for (int64_t j = 0; j < n; ++j) {
            row[j] = static_cast<float>(kept[static_cast<size_t>(j)] * row[j] +
                                        change * k[j]);
            sum += static_cast<double>(row[j]) * q[j];
          }
          call.outputs[0].floats()[head * p + i] = static_cast<float>(sum);
        }
      }
    }
    states.write(s, state);
  }
}

void fading_state(const Call& call) {
  const Tensor& v = call.inputs[0];
  const States states(call, "FADING_STATE", 7);
  const int64_t heads = v.shape[1];
  const int64_t p = v.shape[2];
  const int64_t n = call.inputs[1].shape[2];
  const bool corrects = call.op.inputs[4] >= 0;
  std::vector<double> kept(static_cast<size_t>(n));
  for (int64_t s = 0; s < states.count(); ++s) {
    std::vector<float> state = states.read(s);
    for (int64_t r = 0; r < v.rows(); ++r) {
      if (!states.has_row(s, r)) continue;
      call.check_stop();
      for (int64_t h = 0; h < heads; ++h) {
        const int64_t head = r * heads + h;
        const float* q = call.inputs[1].floats() + head * n;
        const float* k = call.inputs[2].floats() + head * n;
        const float* decays = call.inputs[3].floats() + head * n;
        const float* bonus = call.inputs[6].floats() + h * n;
        double share = 0;
        for (int64_t j = 0; j < n; ++j) {
          const double x = decays[j];
          kept[static_cast<size_t>(j)] = std::exp(
              corrects ? -std::exp(-0.5) / (1 + std::exp(-x)) : -std::exp(x));
          share += static_cast<double>(bonus[j]) * k[j] * q[j];
        }
        for (int64_t i = 0; i < p; ++i) {
          const double value = v.floats()[head * p + i];
          float* row = state.data() + (h * p + i) * n;
          double before = 0;
          double known = 0;
          for (int64_t j = 0; j < n; ++j) {
            before += static_cast<double>(row[j]) * q[j];
            if (!corrects) continue;
            known += static_cast<double>(row[j]) *
                     call.inputs[4].floats()[head * n + j];
          }
          double after = 0;
          for (int64_t j = 0; j < n; ++j) {
            double next = kept[static_cast<size_t>(j)] * row[j] + value * k[j];
            if (corrects) next += known * call.inputs[5].floats()[head * n + j];
            row[j] = static_cast<float>(next);
            after += static_cast<double>(row[j]) * q[j];
          }
          call.outputs[0].floats()[head * p + i] =
              static_cast<float>(corrects ? after : before);
          call.outputs[1].floats()[head * p + i] =
              static_cast<float>(share * value);
        }
      }
    }
    states.write(s, state);
  }
}

}  // namespace

std::span<const OpRow> recurrence_ops() {
  static constexpr OpRow kOps[] = {{RC_OP_SHORT_CONV, short_conv},
                                   {RC_OP_SELECTIVE_SCAN, selective_scan},
                                   {RC_OP_CHANNEL_SCAN, channel_scan},
                                   {RC_OP_DELTA_RULE, delta_rule},
                                   {RC_OP_COLUMN_DELTA_RULE, column_delta_rule},
                                   {RC_OP_FADING_STATE, fading_state}};
  return kOps;
}

}  // namespace rc::reference
