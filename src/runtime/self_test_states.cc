#include "runtime/self_test_states.h"

#include <cmath>

#include "runtime/self_test_rows.h"

namespace rc::runtime::self_test {

// Slot 1 is read and written: the second run takes up what the first has left.
SelfTestCase short_conv(int64_t width, int32_t function) {
  RowsCase made(cat("SHORT_CONV of ", width, " rows"), kOneAndSeveral);
  constexpr int64_t kChannels = 70;
  const Value x = made.input({RC_DIM_ROWS, kChannels});
  const Value w =
      made.weight(RC_DTYPE_F32, {kChannels, width}, RC_USE_ELEMENTS);
  const Value bias = made.weight(RC_DTYPE_F32, {kChannels}, RC_USE_ELEMENTS);
  const Value sequences = made.one_sequence();
  const Value slots = made.indices({RC_DIM_SEQUENCES, 2}, {1, 1});
  const Value cache = made.cache(RC_DTYPE_F32, {2, width - 1, kChannels});
  return made.take(
      made.builder.short_conv(x, w, bias, sequences, slots, cache, function));
}

SelfTestCase selective_scan(int64_t columns) {
  RowsCase made(cat("SELECTIVE_SCAN of ", columns, " columns"), kOneAndSeveral);
  constexpr int64_t kHeads = 4;
  constexpr int64_t kHead = 10;
  constexpr int64_t kGroups = 2;
  ProgramBuilder::Scan scan;
  scan.x = made.input({RC_DIM_ROWS, kHeads, kHead});
  scan.steps = made.input({RC_DIM_ROWS, kHeads});
  scan.b = made.input({RC_DIM_ROWS, kGroups, columns});
  scan.c = made.input({RC_DIM_ROWS, kGroups, columns});
  for (Value* one : {&scan.step_bias, &scan.decay, &scan.skip}) {
    *one = made.weight(RC_DTYPE_F32, {kHeads}, RC_USE_ELEMENTS);
  }
  const Value sequences = made.one_sequence();
  const Value slots = made.indices({RC_DIM_SEQUENCES, 2}, {1, 1});
  const Value cache = made.cache(RC_DTYPE_F32, {2, kHeads, kHead, columns});
  return made.take(made.builder.selective_scan(scan, sequences, slots, cache));
}

SelfTestCase channel_scan(int64_t columns) {
  RowsCase made(cat("CHANNEL_SCAN of ", columns, " columns"), kOneAndSeveral);
  constexpr int64_t kChannels = 70;
  ProgramBuilder::ChannelScan scan;
  scan.x = made.input({RC_DIM_ROWS, kChannels});
  scan.steps = made.input({RC_DIM_ROWS, kChannels});
  scan.b = made.input({RC_DIM_ROWS, columns});
  scan.c = made.input({RC_DIM_ROWS, columns});
  scan.decay = made.weight(RC_DTYPE_F32, {kChannels, columns}, RC_USE_ELEMENTS);
  scan.skip = made.weight(RC_DTYPE_F32, {kChannels}, RC_USE_ELEMENTS);
  const Value sequences = made.one_sequence();
  const Value slots = made.indices({RC_DIM_SEQUENCES, 2}, {1, 1});
  const Value cache = made.cache(RC_DTYPE_F32, {2, kChannels, columns});
  return made.take(made.builder.channel_scan(scan, sequences, slots, cache));
}

// Keys of a length of about 1, as the rule has them, so that states stay small.
SelfTestCase delta_rule(int64_t columns, bool interleaved) {
  RowsCase made(cat("DELTA_RULE of ", columns, " columns"), kOneAndSeveral);
  constexpr int64_t kHeads = 4;
  constexpr int64_t kHead = 10;
  constexpr int64_t kGroups = 2;
  ProgramBuilder& builder = made.builder;
  const auto normed = [&] {
    const Value x = made.input({RC_DIM_ROWS, kGroups, columns});
    const float scale = 1.0f / std::sqrt(static_cast<float>(columns));
    return builder.scale(builder.plain_norm(x, 1e-6f), scale);
  };
  ProgramBuilder::DeltaRule rule;
  rule.v = made.input({RC_DIM_ROWS, kHeads, kHead});
  rule.q = normed();
  rule.k = normed();
  rule.steps = made.input({RC_DIM_ROWS, kHeads});
  rule.rates = made.input({RC_DIM_ROWS, kHeads});
  for (Value* one : {&rule.step_bias, &rule.decay}) {
    *one = made.weight(RC_DTYPE_F32, {kHeads}, RC_USE_ELEMENTS);
  }
  rule.interleaved = interleaved;
  const Value sequences = made.one_sequence();
  const Value slots = made.indices({RC_DIM_SEQUENCES, 2}, {1, 1});
  const Value cache = made.cache(RC_DTYPE_F32, {2, kHeads, kHead, columns});
  return made.take(builder.delta_rule(rule, sequences, slots, cache));
}

SelfTestCase column_delta_rule(int64_t columns) {
  RowsCase made(cat("COLUMN_DELTA_RULE of ", columns, " columns"),
                kOneAndSeveral);
  constexpr int64_t kHeads = 4;
  constexpr int64_t kHead = 10;
  ProgramBuilder& builder = made.builder;
  const auto normed = [&] {
    const Value x = made.input({RC_DIM_ROWS, kHeads, columns});
    const float scale = 1.0f / std::sqrt(static_cast<float>(columns));
    return builder.scale(builder.plain_norm(x, 1e-6f), scale);
  };
  ProgramBuilder::ColumnDeltaRule rule;
  rule.v = made.input({RC_DIM_ROWS, kHeads, kHead});
  rule.q = normed();
  rule.k = normed();
  rule.steps = made.input({RC_DIM_ROWS, kHeads, columns});
  rule.rates = made.input({RC_DIM_ROWS, kHeads});
  rule.step_bias =
      made.weight(RC_DTYPE_F32, {kHeads, columns}, RC_USE_ELEMENTS);
  rule.decay = made.weight(RC_DTYPE_F32, {kHeads}, RC_USE_ELEMENTS);
  const Value sequences = made.one_sequence();
  const Value slots = made.indices({RC_DIM_SEQUENCES, 2}, {1, 1});
  const Value cache = made.cache(RC_DTYPE_F32, {2, kHeads, kHead, columns});
  return made.take(builder.column_delta_rule(rule, sequences, slots, cache));
}

// The corrected vector and its correction have a length of about 1, so that
// states stay small.
SelfTestCase fading_state(int64_t columns, bool corrects) {
  RowsCase made(cat("FADING_STATE of ", columns, " columns"), kOneAndSeveral);
  constexpr int64_t kHeads = 4;
  constexpr int64_t kHead = 10;
  ProgramBuilder& builder = made.builder;
  const auto vectors = [&] {
    return made.input({RC_DIM_ROWS, kHeads, columns});
  };
  const auto normed = [&] {
    const float scale = 1.0f / std::sqrt(static_cast<float>(columns));
    return builder.scale(builder.plain_norm(vectors(), 1e-6f), scale);
  };
  ProgramBuilder::FadingState state;
  state.v = made.input({RC_DIM_ROWS, kHeads, kHead});
  state.q = normed();
  state.k = normed();
  state.decays = vectors();
  if (corrects) {
    state.a = normed();
    state.b = normed();
  }
  state.bonus = made.weight(RC_DTYPE_F32, {kHeads, columns}, RC_USE_ELEMENTS);
  const Value sequences = made.one_sequence();
  const Value slots = made.indices({RC_DIM_SEQUENCES, 2}, {1, 1});
  const Value cache = made.cache(RC_DTYPE_F32, {2, kHeads, kHead, columns});
  const ProgramBuilder::Faded faded =
      builder.fading_state(state, sequences, slots, cache);
  return made.take(builder.add(faded.y, faded.own));
}

}  // namespace rc::runtime::self_test
