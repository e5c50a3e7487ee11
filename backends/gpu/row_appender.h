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

// Appends the dispatches of one op.
class RowAppender {
 public:
  RowAppender(Device& device, const Op& op, int32_t number,
              std::span<const Placed> values, const Rows& limits,
              std::vector<Dispatch>* dispatches)
      : device_(device),
        tuning_(device.tuning()),
        op_(op),
        number_(number),
        values_(values),
        limits_(limits),
        dispatches_(dispatches) {}

  void run();

 private:
  struct RowSlice {
    uint32_t symbol, first, limit;
  };
  // Rows for the sequences of an op that carries a state from row to row, among
  // those of a slice that is bound; see states.glsl.
  struct StatePiece {
    RowSlice bound, sequences;
    uint32_t begin, end;
  };

  const Placed& in(int slot) const { return values_[op_.inputs[slot]]; }
  const Placed& out(int slot) const { return values_[op_.outputs[slot]]; }
  bool has(int slot) const { return op_.inputs[slot] >= 0; }

  // The rows of `like` in slices that can be bound for all of `values`.
  std::vector<RowSlice> row_slices(
      const Placed& like, std::initializer_list<const Placed*> values) const;
  // The same with at most so many rows, where a work-group has more than one.
  std::vector<RowSlice> row_slices(const Placed& like,
                                   std::initializer_list<const Placed*> values,
                                   uint64_t most) const;
  // Those rows of a value.
  Region part(const Placed& placed, const RowSlice& rows) const;

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

  void get_rows();
  void copy_rows();
  void norm();
  void linear();
  void rope();
  void cache_store();
  // Lanes of ATTENTION, and rows that a work-group does together where there
  // are many: as many as have room.
  uint32_t attention_lanes(uint32_t head, uint32_t value) const;
  uint32_t attention_rows(uint32_t lanes, uint32_t head, uint32_t value) const;
  void attention();
  void join();
  void elementwise(uint32_t kind, bool two, float factor = 0, float offset = 0);
  void route();
  void choose();
  void sparse_mix();
  void affine();
  void xielu();
  void expert_sum();
  void short_conv();
  void selective_scan();
  void channel_scan();
  void delta_rule();
  void fading_state();

  Device& device_;
  const Tuning& tuning_;
  const Op& op_;
  int32_t number_;
  std::span<const Placed> values_;
  const Rows& limits_;
  std::vector<Dispatch>* dispatches_;
};

}  // namespace rc::gpu
