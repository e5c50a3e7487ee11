// The dispatches of the ops that carry a state from row to row of a sequence.
#include <algorithm>

#include "gpu/loops.h"
#include "gpu/row_appender.h"
#include "gpu/words.h"

namespace rc::gpu {

std::vector<StatePiece> RowAppender::state_pieces(
    uint64_t most, std::initializer_list<const Placed*> values) const {
  const auto sequences = static_cast<uint64_t>(limits_.sequences);
  const uint64_t groups = device.most_groups(1);
  std::vector<StatePiece> pieces;
  for (const RowSlice& bound : row_slices(in(0), values, UINT64_MAX)) {
    for (uint64_t begin = 0; begin < bound.limit; begin += most) {
      const uint64_t rows = std::min(most, bound.limit - begin);
      for (uint64_t first = 0; first < sequences; first += groups) {
        const RowSlice some = {
            kSequences, static_cast<uint32_t>(first),
            static_cast<uint32_t>(std::min(groups, sequences - first))};
        pieces.push_back({bound, some,
                          bound.first + static_cast<uint32_t>(begin),
                          bound.first + static_cast<uint32_t>(begin + rows)});
      }
    }
  }
  return pieces;
}

Dispatch& RowAppender::append_piece(Kernel kernel,
                                    std::vector<uint32_t> constants,
                                    const StatePiece& piece,
                                    std::initializer_list<uint32_t> parameters,
                                    int slot, uint32_t binding) {
  const Placed& cache = in(slot + 2);
  std::vector<uint32_t> all = {piece.bound.first, piece.begin, piece.end,
                               narrow(cache.value.shape[0])};
  all.insert(all.end(), parameters);
  Dispatch& d =
      append(kernel, std::move(constants), piece.sequences, std::move(all));
  bind(d, binding, in(slot), piece.bound);
  d.bindings.push_back({binding + 1, in(slot + 1).region});
  d.bindings.push_back({9, cache.region});
  d.after = piece.begin > 0 && piece.sequences.first == 0;
  return d;
}

namespace {

void append_short_conv(RowAppender& a) {
  const uint32_t d = narrow(a.in(0).value.shape[1]);
  const uint32_t width = narrow(a.in(1).value.shape[1]);
  const auto function = static_cast<uint32_t>(a.op.params.short_conv.function);
  for (const StatePiece& piece : a.state_pieces(
           conv_rows(a.tuning, width), {&a.in(0), &a.in(3), &a.out(0)})) {
    Dispatch& dispatch =
        a.append_piece(Kernel::kShortConv, {a.tuning.plain, width, function},
                       piece, {d, a.has(2)}, 3, 4);
    a.bind(dispatch, 1, a.in(0), piece.bound);
    a.bind(dispatch, 2, a.in(1), piece.bound);
    // An absent input is bound to another, as the kernel names it.
    a.bind(dispatch, 3, a.has(2) ? a.in(2) : a.in(0), piece.bound);
    a.bind(dispatch, 8, a.out(0), piece.bound);
    a.spread(dispatch, divided(d, uint64_t{a.tuning.plain} * a.tuning.vector));
    dispatch.work.each = static_cast<double>(d) * width;
  }
}

void append_selective_scan(RowAppender& a) {
  const rc_plugin_value& x = a.in(0).value;
  const uint32_t heads = narrow(x.shape[1]);
  const uint32_t head = narrow(x.shape[2]);
  const uint32_t groups = narrow(a.in(2).value.shape[1]);
  const uint32_t columns = narrow(a.in(2).value.shape[2]);
  const uint32_t lanes = a.tuning.scan;
  const uint64_t elements = uint64_t{heads} * head;
  for (const StatePiece& piece : a.state_pieces(
           scan_rows(a.tuning, columns),
           {&a.in(0), &a.in(1), &a.in(2), &a.in(3), &a.in(7), &a.out(0)})) {
    Dispatch& d = a.append_piece(Kernel::kSelectiveScan,
                                 {lanes, columns, a.tuning.scan_parts}, piece,
                                 {heads, head, groups}, 7, 10);
    for (int slot = 0; slot < 7; ++slot) {
      a.bind(d, static_cast<uint32_t>(slot + 1), a.in(slot), piece.bound);
    }
    a.bind(d, 8, a.out(0), piece.bound);
    a.spread(d, divided(elements, lanes / a.tuning.scan_parts));
    d.work.each = static_cast<double>(elements) * columns * 2;
  }
}

void append_channel_scan(RowAppender& a) {
  const uint32_t channels = narrow(a.in(0).value.shape[1]);
  const uint32_t columns = narrow(a.in(2).value.shape[1]);
  const uint32_t lanes = a.tuning.scan;
  for (const StatePiece& piece : a.state_pieces(
           scan_rows(a.tuning, columns),
           {&a.in(0), &a.in(1), &a.in(2), &a.in(3), &a.in(6), &a.out(0)})) {
    Dispatch& d = a.append_piece(Kernel::kChannelScan,
                                 {lanes, columns, a.tuning.scan_parts}, piece,
                                 {channels}, 6, 10);
    for (int slot = 0; slot < 6; ++slot) {
      a.bind(d, static_cast<uint32_t>(slot + 1), a.in(slot), piece.bound);
    }
    a.bind(d, 8, a.out(0), piece.bound);
    a.spread(d, divided(channels, lanes / a.tuning.scan_parts));
    d.work.each = static_cast<double>(channels) * columns * 4;
  }
}

void append_delta_rule(RowAppender& a) {
  const rc_plugin_value& v = a.in(0).value;
  const uint32_t heads = narrow(v.shape[1]);
  const uint32_t head = narrow(v.shape[2]);
  const uint32_t groups = narrow(a.in(1).value.shape[1]);
  const uint32_t columns = narrow(a.in(1).value.shape[2]);
  const uint32_t lanes = a.tuning.scan;
  const uint64_t elements = uint64_t{heads} * head;
  for (const StatePiece& piece :
       a.state_pieces(delta_rows(a.tuning, columns),
                      {&a.in(0), &a.in(1), &a.in(2), &a.in(3), &a.in(4),
                       &a.in(7), &a.out(0)})) {
    Dispatch& d = a.append_piece(
        Kernel::kDeltaRule, {lanes, columns, a.tuning.scan_parts}, piece,
        {heads, head, groups, a.op.params.delta_rule.interleaved != 0}, 7, 10);
    for (int slot = 0; slot < 7; ++slot) {
      a.bind(d, static_cast<uint32_t>(slot + 1), a.in(slot), piece.bound);
    }
    a.bind(d, 8, a.out(0), piece.bound);
    a.spread(d, divided(elements, lanes / a.tuning.scan_parts));
    d.work.each = static_cast<double>(elements) * columns * 4;
  }
}

void append_fading_state(RowAppender& a) {
  const rc_plugin_value& v = a.in(0).value;
  const uint32_t heads = narrow(v.shape[1]);
  const uint32_t head = narrow(v.shape[2]);
  const uint32_t columns = narrow(a.in(1).value.shape[2]);
  const uint32_t lanes = a.tuning.scan;
  const uint64_t elements = uint64_t{heads} * head;
  // An absent input is bound to another, as the kernel names it.
  const Placed& key = a.has(4) ? a.in(4) : a.in(1);
  const Placed& rate = a.has(5) ? a.in(5) : a.in(1);
  for (const StatePiece& piece :
       a.state_pieces(delta_rows(a.tuning, columns),
                      {&a.in(0), &a.in(1), &a.in(2), &a.in(3), &key, &rate,
                       &a.in(7), &a.out(0), &a.out(1)})) {
    Dispatch& d = a.append_piece(
        Kernel::kFadingState, {lanes, columns, a.tuning.scan_parts, a.has(4)},
        piece, {heads, head}, 7, 10);
    for (int slot = 0; slot < 4; ++slot) {
      a.bind(d, static_cast<uint32_t>(slot + 1), a.in(slot), piece.bound);
    }
    a.bind(d, 5, key, piece.bound);
    a.bind(d, 6, rate, piece.bound);
    a.bind(d, 7, a.in(6), piece.bound);
    a.bind(d, 8, a.out(0), piece.bound);
    a.bind(d, 12, a.out(1), piece.bound);
    a.spread(d, divided(elements, lanes / a.tuning.scan_parts));
    d.work.each = static_cast<double>(elements) * columns * 6;
  }
}

}  // namespace

std::span<const RowOp> state_ops() {
  static constexpr RowOp kOps[] = {
      {RC_OP_SHORT_CONV, append_short_conv},
      {RC_OP_SELECTIVE_SCAN, append_selective_scan},
      {RC_OP_CHANNEL_SCAN, append_channel_scan},
      {RC_OP_DELTA_RULE, append_delta_rule},
      {RC_OP_FADING_STATE, append_fading_state}};
  return kOps;
}

}  // namespace rc::gpu
