// The parts of a compiled program: dispatches of kernels over pieces of values.
//
// Every op works on rows, so that a value too large to be bound whole is
// processed in pieces of rows. Weights are cut into pieces independently.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gpu/device.h"
#include "gpu/kernel.h"
#include "gpu/weight.h"
#include "tensor/op.h"

namespace rc::gpu {

struct Binding {
  uint32_t slot;
  Region region;
  bool quads = false;  // read as quads
};

// Work-groups have sequences in place of rows.
inline constexpr uint32_t kSequences = 2;
// Not a symbol: `limit` rows of work-groups whatever the run.
inline constexpr uint32_t kFixedRows = 3;

// Which rows a dispatch does: those of the symbol from `first` on, at most
// `limit`; nothing unless that many of them are within [at_least, at_most].
struct RowRange {
  uint32_t symbol = 0;  // 0: rows, 1: outputs, kSequences, kFixedRows
  uint32_t first = 0;
  uint32_t limit = 0;
  uint32_t at_least = 1;
  uint32_t at_most = UINT32_MAX;

  uint32_t count(const Rows& rows) const;
};

// The work of the rows of a range: multiply-adds, about, for each row of the
// run; for each position that it attends to if `per_position`.
struct RowWork {
  double each = 0;
  bool per_position = false;

  // Of `count` rows of the range.
  double of(const RowRange& range, const RunSize& size, uint32_t count) const;
};

struct Dispatch {
  int32_t op;  // its place in the program
  Kernel kernel;
  std::vector<uint32_t> constants;
  std::vector<Binding> bindings;
  std::vector<uint32_t> parameters;
  RowRange rows;
  uint32_t x = 1, z = 1;  // work-groups
  uint32_t batch = 1;     // rows of a work-group
  RowWork work;
  // Takes up what the op's dispatches before it have written.
  bool after = false;
  // Places of those before it that must be over, in order: it reads what they
  // write, or writes what they read or write. Those that others of them wait
  // for may be left out.
  std::vector<uint32_t> waits = {};
};

// Whether the kernel only reads what is bound there.
bool reads(const Dispatch& dispatch, const Binding& binding);

// Whether dispatch `number` begins a stage: dispatches of one op up to the next
// that is `after`, which do not depend on each other.
bool begins_stage(std::span<const Dispatch> dispatches, size_t number);

// Fills in what each waits for.
void find_waits(std::span<Dispatch> dispatches);

// Appends the dispatches of op number `number`, which obeys check_op.
// `limits` are the largest numbers of rows. What dispatches of the op hand on
// to each other lies in buffers that are added to `kept`.
void append_dispatches(Device& device, const Op& op, int32_t number,
                       std::span<const Placed> values, const Rows& limits,
                       std::vector<Dispatch>* dispatches,
                       std::vector<std::unique_ptr<Buffer>>* kept);

// Throws RC_E_UNSUPPORTED if the op, which obeys check_op, cannot be done here.
void check_supported(const Device& device, const Op& op,
                     std::span<const rc_plugin_value> values);

}  // namespace rc::gpu
