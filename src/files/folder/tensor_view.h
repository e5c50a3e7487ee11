// A tensor as the engine knows it, made of tensors of a folder while it is
// read: rows in another order, several tensors as one, a part of one, other
// numbers. Any part can be read at any offset, by any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "files/safetensors/shards.h"
#include "tensor/dtype.h"

namespace rc::folder {

// The change that each number undergoes. The result is F32, but for that of
// kTimes, which is rounded to the type of the view.
enum class Change {
  kNone,
  kPlusOne,   // norms that multiply by one plus the weight
  kMinusExp,  // decays that are held as logarithms
  kTimes      // each slab by its factor
};

// A matrix within a tensor of a folder.
struct Slab {
  safetensors::Place place;
  // In elements: of its first one, and between rows and columns.
  uint64_t first;
  uint64_t row_stride;
  uint64_t column_stride;
  float factor = 1.0f;  // of Change::kTimes
};

struct TensorView {
  std::string name{};
  DType dtype = RC_DTYPE_F32;         // as which it is read
  DType folder_dtype = RC_DTYPE_F32;  // of what it is made of
  std::vector<int64_t> shape{};       // slowest dimension first
  // It is slabs of so many rows and columns, one after the other.
  uint64_t rows = 0;
  uint64_t columns = 0;
  std::vector<Slab> slabs{};
  // The rows of so many heads, each rotated in halves in the folder, become
  // such that are rotated in adjacent pairs; 0: rows stay where they are.
  uint64_t heads = 0;
  // Columns lie in pieces, those of each group together in the folder; here the
  // first ones of all groups come first, then the second ones, and so on. They
  // lie next to each other within a row. 0 groups: they stay where they are.
  struct ColumnPieces {
    uint64_t groups = 0;
    uint64_t each = 0;  // pieces of a group
    uint64_t size = 0;  // columns of a piece
  };
  ColumnPieces pieces{};
  Change change = Change::kNone;
  // Of a tensor that is in no file; then there are no slabs.
  std::vector<float> made{};

  uint64_t bytes() const;
  // Fills `target` with its data from `offset` on, within bytes(). Throws
  // RC_E_IO.
  void read(uint64_t offset, std::span<std::byte> target) const;

 private:
  uint64_t row_in_folder(uint64_t row) const;
  uint64_t column_in_folder(uint64_t column) const;
  void gather(uint64_t first, std::span<std::byte> target) const;
  void gather_columns(const Slab& slab, uint64_t row, uint64_t rows,
                      uint64_t column, uint64_t columns,
                      std::span<std::byte> target) const;
  void pick(const Slab& slab, uint64_t row, uint64_t column,
            std::span<std::byte> target) const;
  // Of elements from `first` on.
  void convert(uint64_t first, std::span<const std::byte> source,
               std::span<float> target) const;
};

// The type of a tensor of a folder as the engine knows it. Throws
// RC_E_UNSUPPORTED naming file and tensor if it is none of plain floats.
DType float_type(const safetensors::Place& place);

}  // namespace rc::folder
