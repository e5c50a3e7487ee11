// Steps that carry a state from row to row of a sequence.
#include <algorithm>
#include <cmath>

#include "cpu/compiler.h"
#include "cpu/kernels.h"
#include "cpu/sequence_states.h"

namespace rc::cpu {
namespace {

// Channels of a convolution that a piece takes.
constexpr int64_t kChannels = 256;
// Channels of a scan that a piece takes.
constexpr int64_t kScanChannels = 64;

// [d, w] as [w, d].
const float* transposed(Compiler& c, const float* weight, int64_t d,
                        int64_t w) {
  auto* result = reinterpret_cast<float*>(
      c.area_of(product(product(static_cast<uint64_t>(d), w), sizeof(float))));
  for (int64_t channel = 0; channel < d; ++channel) {
    for (int64_t i = 0; i < w; ++i) {
      result[i * d + channel] = weight[channel * w + i];
    }
  }
  return result;
}

// The channels [begin, begin + n) of one sequence.
struct Convolution {
  const float* weight;  // [width, d]
  const float* bias;    // NULL: none
  int64_t d, width;
  int32_t function;

  void row(const Kernels& kernels, const float* const* rows, int64_t begin,
           int64_t n, float* y) const {
    if (bias != nullptr) {
      std::copy_n(bias + begin, n, y);
    } else {
      std::fill_n(y, n, 0.0f);
    }
    for (int64_t i = 0; i < width; ++i) {
      kernels.multiply_add(rows[i], weight + i * d + begin, n, y);
    }
    if (function != RC_FUNCTION_NONE) kernels.unary(y, n, function, y);
  }
};

// The sequence of every row is one of the run.
// The state's channels, and pointers to the rows that a result is made of.
uint64_t short_conv_scratch(const Compiler& c, const Op& op) {
  const auto width = static_cast<uint64_t>(c.columns(op.inputs[1]));
  return product(width, kChannels * sizeof(float) + sizeof(float*));
}

void compile_short_conv(Compiler& c, const Op& op) {
  const States states(c, op, 3);
  const int64_t d = c.columns(op.inputs[0]);
  const int64_t width = c.columns(op.inputs[1]);
  const Convolution convolution = {
      transposed(c, c.elements(op.inputs[1]), d, width),
      op.inputs[2] < 0 ? nullptr : c.elements(op.inputs[2]), d, width,
      op.params.short_conv.function};
  const Place x = c.place(op.inputs[0]);
  const Place y = c.place(op.outputs[0]);
  const ThreadScratch scratch = c.thread_scratch();
  const int64_t blocks = (d + kChannels - 1) / kChannels;
  add_sequence_check(c, op, op.inputs[3]);
  c.add(
      {c.area(op.inputs[0]), c.area(op.inputs[3]), c.area(op.inputs[4]),
       c.area(op.inputs[5])},
      {c.area(op.outputs[0]), c.area(op.inputs[5])},
      [=](const Run& run) { return run.rows(RC_DIM_ROWS) * d * (width + 2); },
      [=](const Run& run) { return run.rows(RC_DIM_SEQUENCES) * blocks; },
      [=](Run& run, const Share& share) {
        auto* state = scratch.of<float>(share.thread);
        auto** rows =
            reinterpret_cast<const float**>(state + width * kChannels);
        for (int64_t i = share.begin; i < share.end; ++i) {
          const int64_t begin = i % blocks * kChannels;
          const int64_t n = std::min(kChannels, d - begin);
          States::Slots slots;
          if (!states.find(run, i / blocks, &slots)) return;
          for (int64_t k = 0; k + 1 < width; ++k) {
            rows[k] = state + k * kChannels;
            if (slots.from == nullptr) {
              std::fill_n(state + k * kChannels, n, 0.0f);
            } else {
              std::copy_n(slots.from + k * d + begin, n, state + k * kChannels);
            }
          }
          const auto row = [&](int64_t r) {
            rows[width - 1] = run.at<const float>(x) + r * d + begin;
            convolution.row(run.kernels, rows, begin, n,
                            run.at<float>(y) + r * d + begin);
            std::rotate(rows, rows + 1, rows + width);
          };
          if (!states.each_row(run, share.thread, i / blocks, row)) return;
          for (int64_t k = 0; k + 1 < width; ++k) {
            std::copy_n(rows[k], n, slots.to + k * d + begin);
          }
        }
      });
}

void compile_selective_scan(Compiler& c, const Op& op) {
  const States states(c, op, 7);
  const rc_plugin_value& shape = c.value(op.inputs[0]);
  const int64_t heads = shape.shape[1];
  const int64_t p = shape.shape[2];
  const int64_t groups = c.value(op.inputs[2]).shape[1];
  const int64_t n = c.columns(op.inputs[2]);
  const Place x = c.place(op.inputs[0]);
  const Place steps = c.place(op.inputs[1]);
  const Place b = c.place(op.inputs[2]);
  const Place from_state = c.place(op.inputs[3]);
  const float* step_bias = c.elements(op.inputs[4]);
  const float* decay = c.elements(op.inputs[5]);
  const float* skip = c.elements(op.inputs[6]);
  const Place y = c.place(op.outputs[0]);
  add_sequence_check(c, op, op.inputs[7]);
  std::vector<Area> reads;
  for (const int slot : {0, 1, 2, 3, 7, 8, 9}) {
    reads.push_back(c.area(op.inputs[slot]));
  }
  c.add(
      std::move(reads), {c.area(op.outputs[0]), c.area(op.inputs[9])},
      [=](const Run& run) { return run.rows(RC_DIM_ROWS) * heads * p * n; },
      [=](const Run& run) { return run.rows(RC_DIM_SEQUENCES) * heads; },
      [=](Run& run, const Share& share) {
        for (int64_t i = share.begin; i < share.end; ++i) {
          const int64_t h = i % heads;
          States::Slots slots;
          if (!states.find(run, i / heads, &slots)) return;
          float* state = states.begin(slots, h * p * n, p * n);
          const auto row = [&](int64_t r) {
            const int64_t group = r * groups + h / (heads / groups);
            const double step = softplus(
                static_cast<double>(run.at<const float>(steps)[r * heads + h]) +
                step_bias[h]);
            ScanRow brought;
            brought.x = run.at<const float>(x) + (r * heads + h) * p;
            brought.b = run.at<const float>(b) + group * n;
            brought.c = run.at<const float>(from_state) + group * n;
            brought.step = static_cast<float>(step);
            brought.kept = static_cast<float>(std::exp(step * decay[h]));
            brought.skip = skip[h];
            run.kernels.scan_head(brought, p, n, state,
                                  run.at<float>(y) + (r * heads + h) * p);
          };
          if (!states.each_row(run, share.thread, i / heads, row)) return;
        }
      });
}

void compile_channel_scan(Compiler& c, const Op& op) {
  const States states(c, op, 6);
  const int64_t d = c.columns(op.inputs[0]);
  const int64_t n = c.columns(op.inputs[2]);
  const Place x = c.place(op.inputs[0]);
  const Place steps = c.place(op.inputs[1]);
  const Place b = c.place(op.inputs[2]);
  const Place from_state = c.place(op.inputs[3]);
  const float* decay = c.elements(op.inputs[4]);
  const float* skip = c.elements(op.inputs[5]);
  const Place y = c.place(op.outputs[0]);
  const int64_t blocks = (d + kScanChannels - 1) / kScanChannels;
  add_sequence_check(c, op, op.inputs[6]);
  std::vector<Area> reads;
  for (const int slot : {0, 1, 2, 3, 6, 7, 8}) {
    reads.push_back(c.area(op.inputs[slot]));
  }
  c.add(
      std::move(reads), {c.area(op.outputs[0]), c.area(op.inputs[8])},
      [=](const Run& run) { return run.rows(RC_DIM_ROWS) * d * (4 * n + 32); },
      [=](const Run& run) { return run.rows(RC_DIM_SEQUENCES) * blocks; },
      [=](Run& run, const Share& share) {
        for (int64_t i = share.begin; i < share.end; ++i) {
          const int64_t first = i % blocks * kScanChannels;
          const int64_t count = std::min(kScanChannels, d - first);
          States::Slots slots;
          if (!states.find(run, i / blocks, &slots)) return;
          float* state = states.begin(slots, first * n, count * n);
          const auto row = [&](int64_t r) {
            float taken[kScanChannels];
            const float* given = run.at<const float>(steps) + r * d + first;
            for (int64_t k = 0; k < count; ++k) {
              taken[k] = static_cast<float>(softplus(given[k]));
            }
            ChannelRow brought;
            brought.x = run.at<const float>(x) + r * d + first;
            brought.steps = taken;
            brought.b = run.at<const float>(b) + r * n;
            brought.c = run.at<const float>(from_state) + r * n;
            brought.decay = decay + first * n;
            brought.skip = skip + first;
            run.kernels.scan_channels(brought, count, n, state,
                                      run.at<float>(y) + r * d + first);
          };
          if (!states.each_row(run, share.thread, i / blocks, row)) return;
        }
      });
}

void compile_delta_rule(Compiler& c, const Op& op) {
  const States states(c, op, 7);
  const rc_plugin_value& shape = c.value(op.inputs[0]);
  const int64_t heads = shape.shape[1];
  const int64_t p = shape.shape[2];
  const int64_t groups = c.value(op.inputs[1]).shape[1];
  const int64_t n = c.columns(op.inputs[1]);
  const bool interleaved = op.params.delta_rule.interleaved != 0;
  const Place v = c.place(op.inputs[0]);
  const Place q = c.place(op.inputs[1]);
  const Place k = c.place(op.inputs[2]);
  const Place steps = c.place(op.inputs[3]);
  const Place rates = c.place(op.inputs[4]);
  const float* step_bias = c.elements(op.inputs[5]);
  const float* decay = c.elements(op.inputs[6]);
  const Place y = c.place(op.outputs[0]);
  add_sequence_check(c, op, op.inputs[7]);
  std::vector<Area> reads;
  for (const int slot : {0, 1, 2, 3, 4, 7, 8, 9}) {
    reads.push_back(c.area(op.inputs[slot]));
  }
  c.add(
      std::move(reads), {c.area(op.outputs[0]), c.area(op.inputs[9])},
      [=](const Run& run) { return run.rows(RC_DIM_ROWS) * heads * p * n * 2; },
      [=](const Run& run) { return run.rows(RC_DIM_SEQUENCES) * heads; },
      [=](Run& run, const Share& share) {
        for (int64_t i = share.begin; i < share.end; ++i) {
          const int64_t h = i % heads;
          const int64_t in_row =
              interleaved ? h % groups : h / (heads / groups);
          States::Slots slots;
          if (!states.find(run, i / heads, &slots)) return;
          float* state = states.begin(slots, h * p * n, p * n);
          const auto row = [&](int64_t r) {
            const int64_t group = r * groups + in_row;
            const int64_t head = r * heads + h;
            const double step =
                softplus(static_cast<double>(run.at<const float>(steps)[head]) +
                         step_bias[h]);
            DeltaRow brought;
            brought.v = run.at<const float>(v) + head * p;
            brought.q = run.at<const float>(q) + group * n;
            brought.k = run.at<const float>(k) + group * n;
            brought.kept = static_cast<float>(std::exp(step * decay[h]));
            brought.rate = run.at<const float>(rates)[head];
            run.kernels.delta_head(brought, p, n, state,
                                   run.at<float>(y) + head * p);
          };
          if (!states.each_row(run, share.thread, i / heads, row)) return;
        }
      });
}

// The rest of each column of a head.
uint64_t fading_state_scratch(const Compiler& c, const Op& op) {
  return product(static_cast<uint64_t>(c.columns(op.inputs[1])), sizeof(float));
}

void compile_fading_state(Compiler& c, const Op& op) {
  const States states(c, op, 7);
  const rc_plugin_value& shape = c.value(op.inputs[0]);
  const int64_t heads = shape.shape[1];
  const int64_t p = shape.shape[2];
  const int64_t n = c.columns(op.inputs[1]);
  const bool corrects = op.inputs[4] >= 0;
  const Place v = c.place(op.inputs[0]);
  const Place q = c.place(op.inputs[1]);
  const Place k = c.place(op.inputs[2]);
  const Place decays = c.place(op.inputs[3]);
  const Place a = corrects ? c.place(op.inputs[4]) : Place{};
  const Place b = corrects ? c.place(op.inputs[5]) : Place{};
  const float* bonus = c.elements(op.inputs[6]);
  const Place y = c.place(op.outputs[0]);
  const Place own = c.place(op.outputs[1]);
  const ThreadScratch scratch = c.thread_scratch();
  add_sequence_check(c, op, op.inputs[7]);
  std::vector<Area> reads;
  for (const int slot : {0, 1, 2, 3, 4, 5, 7, 8, 9}) {
    if (op.inputs[slot] >= 0) reads.push_back(c.area(op.inputs[slot]));
  }
  c.add(
      std::move(reads),
      {c.area(op.outputs[0]), c.area(op.outputs[1]), c.area(op.inputs[9])},
      [=](const Run& run) { return run.rows(RC_DIM_ROWS) * heads * p * n * 2; },
      [=](const Run& run) { return run.rows(RC_DIM_SEQUENCES) * heads; },
      [=](Run& run, const Share& share) {
        auto* kept = scratch.of<float>(share.thread);
        for (int64_t i = share.begin; i < share.end; ++i) {
          const int64_t h = i % heads;
          States::Slots slots;
          if (!states.find(run, i / heads, &slots)) return;
          float* state = states.begin(slots, h * p * n, p * n);
          const auto row = [&](int64_t r) {
            const int64_t head = r * heads + h;
            FadingRow brought = {};
            brought.v = run.at<const float>(v) + head * p;
            brought.q = run.at<const float>(q) + head * n;
            brought.k = run.at<const float>(k) + head * n;
            brought.kept = kept;
            if (corrects) {
              brought.a = run.at<const float>(a) + head * n;
              brought.b = run.at<const float>(b) + head * n;
            }
            const float* given = run.at<const float>(decays) + head * n;
            double sum = 0;
            for (int64_t j = 0; j < n; ++j) {
              const double x = given[j];
              kept[j] = static_cast<float>(
                  std::exp(corrects ? -std::exp(-0.5) / (1 + std::exp(-x))
                                    : -std::exp(x)));
              sum += static_cast<double>(bonus[h * n + j]) * brought.k[j] *
                     brought.q[j];
            }
            run.kernels.fading_head(brought, p, n, state,
                                    run.at<float>(y) + head * p);
            for (int64_t e = 0; e < p; ++e) {
              run.at<float>(own)[head * p + e] =
                  static_cast<float>(sum) * brought.v[e];
            }
          };
          if (!states.each_row(run, share.thread, i / heads, row)) return;
        }
      });
}

}  // namespace

void add_sequence_check(Compiler& c, const Op& op, int32_t sequences) {
  const Place place = c.place(sequences);
  const char* name = op_name(op.code);
  c.add(
      {c.area(sequences)}, {},
      [](const Run& run) { return run.rows(RC_DIM_ROWS); },
      [](const Run&) { return int64_t{1}; },
      [=](Run& run, const Share&) {
        const int32_t* of_row = run.at<const int32_t>(place);
        for (int64_t r = 0; r < run.rows(RC_DIM_ROWS); ++r) {
          if (of_row[r] >= 0 && of_row[r] < run.rows(RC_DIM_SEQUENCES)) {
            continue;
          }
          run.fail(RC_E_INVALID_ARGUMENT,
                   "%s: row %lld belongs to sequence %d of %lld", name,
                   static_cast<long long>(r), of_row[r],
                   static_cast<long long>(run.rows(RC_DIM_SEQUENCES)));
          return;
        }
      });
}

std::span<const OpRow> recurrence_ops() {
  static constexpr OpRow kOps[] = {{.code = RC_OP_SHORT_CONV,
                                    .form = OpRow::kOnRows,
                                    .compile = compile_short_conv,
                                    .scratch = short_conv_scratch},
                                   {.code = RC_OP_SELECTIVE_SCAN,
                                    .form = OpRow::kOnRows,
                                    .compile = compile_selective_scan},
                                   {.code = RC_OP_CHANNEL_SCAN,
                                    .form = OpRow::kOnRows,
                                    .compile = compile_channel_scan},
                                   {.code = RC_OP_DELTA_RULE,
                                    .form = OpRow::kOnRows,
                                    .compile = compile_delta_rule},
                                   {.code = RC_OP_FADING_STATE,
                                    .form = OpRow::kOnRows,
                                    .compile = compile_fading_state,
                                    .scratch = fading_state_scratch}};
  return kOps;
}

}  // namespace rc::cpu
