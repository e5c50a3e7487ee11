// Appends the dispatches of one of the ops that models consist of: those on
// rows of a batch. See tensor_appender.h for the others.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "gpu/dispatch.h"

namespace rc::gpu {

inline constexpr uint32_t kCacheRanges = 4;  // that ATTENTION binds

// Elements of one row of a value, and its bytes.
int64_t width_of(const rc_plugin_value& value);
uint64_t row_bytes_of(const rc_plugin_value& value);

// A cache in ranges of whole pages that can be bound.
struct CacheRanges {
  uint64_t page_bytes;
  uint64_t pages;  // of each range but the last
  uint64_t count;
};
CacheRanges ranges_of(const Device& device, const rc_plugin_value& cache);

struct RowSlice {
  uint32_t symbol, first, limit;
};

// Rows for the sequences of an op that carries a state from row to row, among
// those of a slice that is bound; see states.glsl.
struct StatePiece {
  RowSlice bound, sequences;
  uint32_t begin, end;
};

// The parts from which the dispatches of one op are made.
class RowAppender {
 public:
  RowAppender(Device& made_for, const Op& appended, int32_t number,
              std::span<const Placed> values, const Rows& limits,
              std::vector<Dispatch>* dispatches)
      : device(made_for),
        tuning(device.tuning()),
        op(appended),
        number_(number),
        values_(values),
        limits_(limits),
        dispatches_(dispatches) {}

  Device& device;
  const Tuning& tuning;
  const Op& op;

  const Placed& in(int slot) const { return values_[op.inputs[slot]]; }
  const Placed& out(int slot) const { return values_[op.outputs[slot]]; }
  bool has(int slot) const { return op.inputs[slot] >= 0; }

  // The rows of `like` in slices that can be bound for all of `values`.
  std::vector<RowSlice> row_slices(
      const Placed& like, std::initializer_list<const Placed*> values) const;
  // The same with at most so many rows, where a work-group has more than one.
  std::vector<RowSlice> row_slices(const Placed& like,
                                   std::initializer_list<const Placed*> values,
                                   uint64_t most) const;

  // At most so many rows to a piece, and all of what is bound for them.
  std::vector<StatePiece> state_pieces(
      uint64_t most, std::initializer_list<const Placed*> values) const;

  Dispatch& append(Kernel kernel, std::vector<uint32_t> constants,
                   const RowSlice& rows, std::vector<uint32_t> parameters);
  // Appends one for a piece. Input number `slot` and the two after it are
  // sequences, state_slots and the cache; the first two are bound from slot
  // `binding` of the kernel on.
  Dispatch& append_piece(Kernel kernel, std::vector<uint32_t> constants,
                         const StatePiece& piece,
                         std::initializer_list<uint32_t> parameters, int slot,
                         uint32_t binding);
  // Binds those rows of a value.
  void bind(Dispatch& dispatch, uint32_t slot, const Placed& placed,
            const RowSlice& rows, bool quads = false) const;
  void bind_weight(Dispatch& dispatch, const Weight::Slice& slice) const;
  // Gives it so many work-groups within a row; see COLUMN_GROUP of
  // common.glsl.
  void spread(Dispatch& dispatch, uint32_t groups) const;

  std::vector<uint32_t> weight_constants(const Weight& weight,
                                         uint32_t lanes) const;

 private:
  // Those rows of a value.
  Region part(const Placed& placed, const RowSlice& rows) const;

  int32_t number_;
  std::span<const Placed> values_;
  const Rows& limits_;
  std::vector<Dispatch>* dispatches_;
};

// An op on rows: its number and the function that appends its dispatches.
struct RowOp {
  int32_t code;  // RC_OP_*
  void (*append)(RowAppender& appender);
};

// The ops of each file.
std::span<const RowOp> attention_ops();
std::span<const RowOp> linear_ops();
std::span<const RowOp> row_ops();
std::span<const RowOp> state_ops();

}  // namespace rc::gpu
