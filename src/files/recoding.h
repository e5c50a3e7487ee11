// The tensors of a file in the types that a conversion gives them, piece by
// piece and on any number of threads: a piece has the same bytes whichever
// thread makes it.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "files/convert.h"
#include "files/gguf/writer.h"
#include "files/importance/read.h"
#include "files/quantize/weights.h"

namespace rc {

class Recoding {
 public:
  // The most elements of a piece, a multiple of all block sizes.
  static constexpr int64_t kPieceElements = int64_t{1} << 16;

  // `file` must outlive it. Throws what convert_model throws but RC_E_IO of the
  // file that is written and RC_E_CANCELLED.
  Recoding(const gguf::File& file, const Conversion& conversion);

  // The type that tensor `i` of the file gets.
  DType type(size_t i) const { return types_[i]; }
  // All metadata but the vocabulary of ggml/vocabulary.h.
  void add_metadata(gguf::Writer& writer) const;

  // Room of one thread.
  struct Scratch {
    std::vector<std::byte> bytes;
    std::vector<float> values, weights;
  };
  // Makes `count` elements, kPieceElements at most, of tensor `i` from `begin`
  // on, both in whole blocks of both types: rows are whole blocks, so a tensor
  // is like one long row.
  void encode(size_t i, int64_t begin, int64_t count, Scratch& scratch,
              std::vector<std::byte>& target) const;

 private:
  void check(const gguf::Tensor& tensor, DType dtype,
             std::span<const float> values) const;

  const gguf::File& file_;
  // Empty: the types of the file.
  const std::string type_;
  bool changes_ = false;
  importance::Importance importance_;
  std::optional<quantize::Weights> weights_;
  std::vector<DType> types_;
};

}  // namespace rc
