// A matrix that a folder holds in fewer bits, with separate scales, as one of
// F32: what quantized folders have in place of plain weights. Numbers are those
// that the scheme defines, rounded once to F32.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "files/safetensors/shards.h"

namespace rc::folder {

class ExpandedTensor : public safetensors::TensorSource {
 public:
  // `model` is what messages name the file of.
  ExpandedTensor(const safetensors::Place& model, std::string tensor,
                 int64_t rows, int64_t columns);

  const safetensors::Tensor& tensor() const { return tensor_; }
  const std::string& name() const override { return file_.name(); }
  // Of whole elements.
  void read(const safetensors::Tensor& tensor, uint64_t offset,
            std::span<std::byte> target) const override;

 protected:
  // Fills `target` with a part of one row.
  virtual void decode(uint64_t row, uint64_t column,
                      std::span<float> target) const = 0;

  uint64_t rows() const { return static_cast<uint64_t>(tensor_.shape[0]); }
  uint64_t columns() const { return static_cast<uint64_t>(tensor_.shape[1]); }

 private:
  const safetensors::TensorSource& file_;
  safetensors::Tensor tensor_;
};

// Numbers of a tensor of plain floats, 8-bit floats, exponents (F8_E8M0) or
// 8-bit integers, from its element `first` on.
void read_numbers(const safetensors::Place& place, uint64_t first,
                  std::span<float> target);
bool has_numbers(const safetensors::Place& place);
// The same of one of 32-bit integers.
void read_words(const safetensors::Place& place, uint64_t first,
                std::span<uint32_t> target);

// The same of one that names a group below `count` for each column. Throws
// RC_E_FORMAT naming one that is not.
void read_groups_of(const safetensors::Place& place, uint64_t first,
                    uint64_t count, std::span<uint32_t> target);

// A matrix of one number per byte, [rows, columns], and what each is multiplied
// by: a number for each block of so many rows and columns.
struct Scales {
  safetensors::Place place;
  uint64_t block_rows;
  uint64_t block_columns;
  uint64_t per_row;  // of scales
  // Of the blocks' zeros, which are subtracted first; of 8-bit integers.
  std::optional<safetensors::Place> zeros;
};
std::shared_ptr<const ExpandedTensor> expand_bytes(
    std::string name, const safetensors::Place& weights, const Scales& scales);

// The same with several unsigned numbers in a word of 32 bits along a row, the
// lowest bits first, of which half of their range is subtracted.
struct PackedRows {
  safetensors::Place weights;
  uint64_t bits;
  int64_t rows;
  int64_t columns;
  // Packed along a column.
  std::optional<safetensors::Place> zeros;
  // For each column the one of its scales.
  std::optional<safetensors::Place> groups;
};
std::shared_ptr<const ExpandedTensor> expand_packed(std::string name,
                                                    const PackedRows& packed,
                                                    const Scales& scales);

// A part of a matrix that was expanded last, shared by all matrices of a model:
// those that lie in a folder in the other direction are expanded many rows at
// once.
struct Tile {
  std::mutex mutex;  // for what follows
  const void* owner = nullptr;
  uint64_t first_row = 0;
  std::vector<float> values;
};

// A matrix that lies in a folder as [columns, rows], with scales [groups, rows]
// and zeros of as many bits as the weights.
struct PackedColumns {
  safetensors::Place weights;
  safetensors::Place zeros;
  safetensors::Place scales;
  std::optional<safetensors::Place> groups;  // of each column
  int64_t rows;
  int64_t columns;
  uint64_t group_size;
  uint64_t bits;
  // GPTQ has several columns in a word, AWQ several rows, in another order.
  bool awq;
  uint32_t zero_offset;  // is added to each zero
};
std::shared_ptr<const ExpandedTensor> expand_columns(
    std::string name, const PackedColumns& packed, std::shared_ptr<Tile> tile);

}  // namespace rc::folder
