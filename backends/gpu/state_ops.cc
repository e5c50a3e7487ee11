// The dispatches of the ops that carry a state from row to row of a sequence.
#include <algorithm>

#include "gpu/loops.h"
#include "gpu/row_appender.h"
#include "gpu/words.h"

namespace rc::gpu {

std::vector<RowAppender::StatePiece> RowAppender::state_pieces(
    uint64_t most, std::initializer_list<const Placed*> values) const {
  const auto sequences = static_cast<uint64_t>(limits_.sequences);
  const uint64_t groups = device_.most_groups(1);
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

void RowAppender::short_conv() {
  const uint32_t d = narrow(in(0).value.shape[1]);
  const uint32_t width = narrow(in(1).value.shape[1]);
  const auto function = static_cast<uint32_t>(op_.params.short_conv.function);
  for (const StatePiece& piece :
       state_pieces(conv_rows(tuning_, width), {&in(0), &in(3), &out(0)})) {
    Dispatch& dispatch =
        append_piece(Kernel::kShortConv, {tuning_.plain, width, function},
                     piece, {d, has(2)}, 3, 4);
    bind(dispatch, 1, in(0), piece.bound);
    bind(dispatch, 2, in(1), piece.bound);
    // What is not read is bound all the same: it is named in the kernel.
    bind(dispatch, 3, has(2) ? in(2) : in(0), piece.bound);
    bind(dispatch, 8, out(0), piece.bound);
    spread(dispatch, divided(d, uint64_t{tuning_.plain} * tuning_.vector));
    dispatch.work.each = static_cast<double>(d) * width;
  }
}

void RowAppender::selective_scan() {
  const rc_plugin_value& x = in(0).value;
  const uint32_t heads = narrow(x.shape[1]);
  const uint32_t head = narrow(x.shape[2]);
  const uint32_t groups = narrow(in(2).value.shape[1]);
  const uint32_t columns = narrow(in(2).value.shape[2]);
  const uint32_t lanes = tuning_.scan;
  const uint64_t elements = uint64_t{heads} * head;
  for (const StatePiece& piece :
       state_pieces(scan_rows(tuning_, columns),
                    {&in(0), &in(1), &in(2), &in(3), &in(7), &out(0)})) {
    Dispatch& d = append_piece(Kernel::kSelectiveScan,
                               {lanes, columns, tuning_.scan_parts}, piece,
                               {heads, head, groups}, 7, 10);
    for (int slot = 0; slot < 7; ++slot) {
      bind(d, static_cast<uint32_t>(slot + 1), in(slot), piece.bound);
    }
    bind(d, 8, out(0), piece.bound);
    spread(d, divided(elements, lanes / tuning_.scan_parts));
    d.work.each = static_cast<double>(elements) * columns * 2;
  }
}

void RowAppender::channel_scan() {
  const uint32_t channels = narrow(in(0).value.shape[1]);
  const uint32_t columns = narrow(in(2).value.shape[1]);
  const uint32_t lanes = tuning_.scan;
  for (const StatePiece& piece :
       state_pieces(scan_rows(tuning_, columns),
                    {&in(0), &in(1), &in(2), &in(3), &in(6), &out(0)})) {
    Dispatch& d =
        append_piece(Kernel::kChannelScan, {lanes, columns, tuning_.scan_parts},
                     piece, {channels}, 6, 10);
    for (int slot = 0; slot < 6; ++slot) {
      bind(d, static_cast<uint32_t>(slot + 1), in(slot), piece.bound);
    }
    bind(d, 8, out(0), piece.bound);
    spread(d, divided(channels, lanes / tuning_.scan_parts));
    d.work.each = static_cast<double>(channels) * columns * 4;
  }
}

void RowAppender::delta_rule() {
  const rc_plugin_value& v = in(0).value;
  const uint32_t heads = narrow(v.shape[1]);
  const uint32_t head = narrow(v.shape[2]);
  const uint32_t groups = narrow(in(1).value.shape[1]);
  const uint32_t columns = narrow(in(1).value.shape[2]);
  const uint32_t lanes = tuning_.scan;
  const uint64_t elements = uint64_t{heads} * head;
  for (const StatePiece& piece : state_pieces(
           delta_rows(tuning_, columns),
           {&in(0), &in(1), &in(2), &in(3), &in(4), &in(7), &out(0)})) {
    Dispatch& d = append_piece(
        Kernel::kDeltaRule, {lanes, columns, tuning_.scan_parts}, piece,
        {heads, head, groups, op_.params.delta_rule.interleaved != 0}, 7, 10);
    for (int slot = 0; slot < 7; ++slot) {
      bind(d, static_cast<uint32_t>(slot + 1), in(slot), piece.bound);
    }
    bind(d, 8, out(0), piece.bound);
    spread(d, divided(elements, lanes / tuning_.scan_parts));
    d.work.each = static_cast<double>(elements) * columns * 4;
  }
}

void RowAppender::fading_state() {
  const rc_plugin_value& v = in(0).value;
  const uint32_t heads = narrow(v.shape[1]);
  const uint32_t head = narrow(v.shape[2]);
  const uint32_t columns = narrow(in(1).value.shape[2]);
  const uint32_t lanes = tuning_.scan;
  const uint64_t elements = uint64_t{heads} * head;
  // What is not read is bound all the same: it is named in the kernel.
  const Placed& a = has(4) ? in(4) : in(1);
  const Placed& b = has(5) ? in(5) : in(1);
  for (const StatePiece& piece : state_pieces(
           delta_rows(tuning_, columns), {&in(0), &in(1), &in(2), &in(3), &a,
                                          &b, &in(7), &out(0), &out(1)})) {
    Dispatch& d = append_piece(Kernel::kFadingState,
                               {lanes, columns, tuning_.scan_parts, has(4)},
                               piece, {heads, head}, 7, 10);
    for (int slot = 0; slot < 4; ++slot) {
      bind(d, static_cast<uint32_t>(slot + 1), in(slot), piece.bound);
    }
    bind(d, 5, a, piece.bound);
    bind(d, 6, b, piece.bound);
    bind(d, 7, in(6), piece.bound);
    bind(d, 8, out(0), piece.bound);
    bind(d, 12, out(1), piece.bound);
    spread(d, divided(elements, lanes / tuning_.scan_parts));
    d.work.each = static_cast<double>(elements) * columns * 6;
  }
}

}  // namespace rc::gpu
