// The paged cache of keys and values.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "reference/ops.h"

namespace rc::reference {
namespace {

// Where the positions of sequences lie in caches of one shape.
class Places {
 public:
  Places(const Call& call, const char* op, int slot, const Tensor& cache)
      : op_(op),
        positions_(call.inputs[slot]),
        sequences_(call.inputs[slot + 1]),
        table_(call.inputs[slot + 2]),
        sequence_count_(call.sequences),
        pages_(cache.shape[0]),
        heads_(cache.shape[1]),
        page_size_(cache.shape[2]) {}

  int32_t position(int64_t row) const {
    const int32_t position = positions_.numbers()[row];
    if (position < 0 || position / page_size_ >= table_.columns()) {
      fail(RC_E_INVALID_ARGUMENT, op_, ": row ", row, " has position ",
           position, ", but the page table reaches from 0 to ",
           table_.columns() * page_size_ - 1);
    }
    return position;
  }
  // The last of `length` positions of a sequence.
  int32_t last_of(int32_t sequence, int32_t length) const {
    if (length < 1 || (length - 1) / page_size_ >= table_.columns()) {
      fail(RC_E_INVALID_ARGUMENT, op_, ": sequence ", sequence, " has length ",
           length, ", but the page table holds 1 to ",
           table_.columns() * page_size_);
    }
    return length - 1;
  }
  int32_t sequence(int64_t row) const {
    const int32_t sequence = sequences_.numbers()[row];
    if (sequence < 0 || sequence >= sequence_count_) {
      fail(RC_E_INVALID_ARGUMENT, op_, ": row ", row, " belongs to sequence ",
           sequence, " of ", sequence_count_);
    }
    return sequence;
  }
  // The number of the vector of `head` at `position` (see Tensor::vector).
  int64_t vector(int32_t sequence, int32_t position, int64_t head) const {
    const int64_t entry = sequence * table_.columns() + position / page_size_;
    const int32_t page = table_.numbers()[entry];
    if (page < 0 || page >= pages_) {
      fail(RC_E_INVALID_ARGUMENT, op_, ": position ", position, " of sequence ",
           sequence, " lies in page ", page, " of ", pages_);
    }
    return (page * heads_ + head) * page_size_ + position % page_size_;
  }

 private:
  const char* op_;
  const Tensor& positions_;
  const Tensor& sequences_;
  const Tensor& table_;
  int64_t sequence_count_;
  int64_t pages_;
  int64_t heads_;
  int64_t page_size_;
};

// The parameters of scores and of the positions that a row sees.
struct Rules {
  double scale;
  double cap;
  int64_t window;
  int64_t chunk = 0;
  double temperature = 0;
  int64_t temperature_length = 0;
  const Tensor* slopes = nullptr;
  const Tensor* distances = nullptr;

  int32_t first_of(int32_t position) const {
    if (chunk > 0) return static_cast<int32_t>(position / chunk * chunk);
    if (window == 0) return 0;
    return static_cast<int32_t>(std::max<int64_t>(0, position - window + 1));
  }
  double scale_at(int32_t position) const {
    if (temperature <= 0) return scale;
    const int64_t lengths = (int64_t{position} + 1) / temperature_length;
    return scale * (1 + temperature * std::log1p(static_cast<double>(lengths)));
  }
  // The x of a score at `place` for a row at `position`.
  double x_of(double score, int64_t head, int32_t place,
              int32_t position) const {
    if (cap > 0) score = cap * std::tanh(score / cap);
    const int64_t distance = int64_t{place} - position;
    if (slopes != nullptr) {
      score -= static_cast<double>(slopes->floats()[head]) *
               static_cast<double>(std::abs(distance));
    }
    if (distances != nullptr) {
      const int64_t span = distances->columns();
      const int64_t most = span / 2;
      score += distances->floats()[head * span +
                                   std::clamp(distance, -most, most) + most];
    }
    return score;
  }
};

void attend_to(const Call& call, const char* op, const Rules& rules) {
  const Tensor& q = call.inputs[0];
  const Tensor& keys = call.inputs[1];
  const Tensor& values = call.inputs[2] ? call.inputs[2] : keys;
  const Tensor& sinks = call.inputs[6];
  const Tensor& lengths = call.inputs[7];
  const Tensor& output = call.outputs[0];
  const Places places(call, op, 3, keys);
  const int64_t heads = q.shape[1];
  const int64_t d = q.shape[2];
  const int64_t v = output.shape[2];
  const int64_t group = heads / keys.shape[1];
  std::vector<float> key(keys.shape[3]);
  std::vector<float> value(values.shape[3]);
  std::vector<double> scores;
  std::vector<double> sum(v);
  for (int64_t r = 0; r < q.rows(); ++r) {
    const int32_t position = places.position(r);
    const int32_t sequence = places.sequence(r);
    const int32_t first = rules.first_of(position);
    int32_t last = position;
    if (lengths) {
      last = places.last_of(sequence, lengths.numbers()[sequence]);
      if (rules.window > 0) {
        last = static_cast<int32_t>(
            std::min<int64_t>(last, position + rules.window - 1));
      }
    }
    const double scale = rules.scale_at(position);
    for (int64_t h = 0; h < heads; ++h) {
      call.check_stop();
      const float* query = q.floats() + (r * heads + h) * d;

      scores.clear();
      for (int32_t p = first; p <= last; ++p) {
        keys.decode(places.vector(sequence, p, h / group), key.data());
        double score = 0;
        for (int64_t i = 0; i < d; ++i) {
          score += static_cast<double>(query[i]) * key[i];
        }
        scores.push_back(rules.x_of(score * scale, h, p, position));
      }

      double largest = *std::max_element(scores.begin(), scores.end());
      double total = 0;
      if (sinks) {
        const double sink = sinks.floats()[h];
        largest = std::max(largest, sink);
        total = std::exp(sink - largest);
      }
      std::fill(sum.begin(), sum.end(), 0);
      for (int32_t p = first; p <= last; ++p) {
        const double share = std::exp(scores[p - first] - largest);
        values.decode(places.vector(sequence, p, h / group), value.data());
        for (int64_t i = 0; i < v; ++i) sum[i] += share * value[i];
        total += share;
      }
      for (int64_t i = 0; i < v; ++i) {
        output.floats()[(r * heads + h) * v + i] =
            static_cast<float>(sum[i] / total);
      }
    }
  }
}

void cache_store(const Call& call) {
  const Tensor& x = call.inputs[0];
  const Tensor& cache = call.inputs[4];
  const Places places(call, "CACHE_STORE", 1, cache);
  const int64_t heads = x.shape[1];
  const int64_t d = x.shape[2];
  for (int64_t r = 0; r < x.rows(); ++r) {
    call.check_stop();
    const int32_t position = places.position(r);
    const int32_t sequence = places.sequence(r);
    for (int64_t h = 0; h < heads; ++h) {
      encode_row(cache.dtype, x.floats() + (r * heads + h) * d,
                 cache.vector(places.vector(sequence, position, h)), d);
    }
  }
}

void attention(const Call& call) {
  const auto& params = call.op.params.attention;
  attend_to(call, "ATTENTION", {params.scale, params.softcap, params.window});
}

void general_attention(const Call& call) {
  const auto& params = call.op.params.general_attention;
  attend_to(call, "GENERAL_ATTENTION",
            {params.scale, params.softcap, params.window, params.chunk,
             params.temperature, params.temperature_length,
             call.inputs[8] ? &call.inputs[8] : nullptr,
             call.inputs[9] ? &call.inputs[9] : nullptr});
}

}  // namespace

std::span<const OpRow> attention_ops() {
  static constexpr OpRow kOps[] = {
      {RC_OP_CACHE_STORE, cache_store},
      {RC_OP_ATTENTION, attention},
      {RC_OP_GENERAL_ATTENTION, general_attention}};
  return kOps;
}

}  // namespace rc::reference
