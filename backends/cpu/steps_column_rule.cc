// The delta rule whose states fade by the column.
#include <cmath>

#include "cpu/compiler.h"
#include "cpu/kernels.h"
#include "cpu/sequence_states.h"

namespace rc::cpu {
namespace {

// The rest of each column of a head, the vector with which the state before is
// read, and the key times the rate.
uint64_t column_delta_rule_scratch(const Compiler& c, const Op& op) {
  return product(static_cast<uint64_t>(c.columns(op.inputs[1])),
                 3 * sizeof(float));
}

// The kernel of states that fade by the column corrects them, too.
void compile_column_delta_rule(Compiler& c, const Op& op) {
  const States states(c, op, 7);
  const rc_plugin_value& shape = c.value(op.inputs[0]);
  const int64_t heads = shape.shape[1];
  const int64_t p = shape.shape[2];
  const int64_t n = c.columns(op.inputs[1]);
  const Place v = c.place(op.inputs[0]);
  const Place q = c.place(op.inputs[1]);
  const Place k = c.place(op.inputs[2]);
  const Place steps = c.place(op.inputs[3]);
  const Place rates = c.place(op.inputs[4]);
  const float* step_bias = c.elements(op.inputs[5]);
  const float* decay = c.elements(op.inputs[6]);
  const Place y = c.place(op.outputs[0]);
  const ThreadScratch scratch = c.thread_scratch();
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
        auto* kept = scratch.of<float>(share.thread);
        float* known = kept + n;
        float* added = known + n;
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
            brought.kept = kept;
            brought.k = brought.b = added;
            brought.a = known;
            const float* key = run.at<const float>(k) + head * n;
            const float* given = run.at<const float>(steps) + head * n;
            const float rate = run.at<const float>(rates)[head];
            for (int64_t j = 0; j < n; ++j) {
              const double t = softplus(static_cast<double>(given[j]) +
                                        step_bias[h * n + j]);
              kept[j] = static_cast<float>(std::exp(t * decay[h]));
              known[j] = -kept[j] * key[j];
              added[j] = rate * key[j];
            }
            run.kernels.fading_head(brought, p, n, state,
                                    run.at<float>(y) + head * p);
          };
          if (!states.each_row(run, share.thread, i / heads, row)) return;
        }
      });
}

}  // namespace

std::span<const OpRow> column_rule_ops() {
  static constexpr OpRow kOps[] = {{.code = RC_OP_COLUMN_DELTA_RULE,
                                    .form = OpRow::kOnRows,
                                    .compile = compile_column_delta_rule,
                                    .scratch = column_delta_rule_scratch}};
  return kOps;
}

}  // namespace rc::cpu
