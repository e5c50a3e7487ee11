// Random weights in any type, made fast: a stretch of random values is encoded
// once for each type and size, and the rows of a matrix begin at random blocks
// of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "files/gguf/writer.h"
#include "random.h"
#include "tensor/dtype.h"

namespace rc::bench {

class RandomWeights {
 public:
  // Makes the bytes of a matrix of `rows` rows of `columns` elements of
  // standard deviation `deviation`, a megabyte at a time. The producer may
  // outlive this object.
  gguf::Writer::Producer matrix(DType dtype, int64_t rows, int64_t columns,
                                float deviation);

 private:
  using Pool = std::vector<std::byte>;
  std::shared_ptr<const Pool> pool(DType dtype, int64_t columns,
                                   float deviation);

  std::map<std::tuple<DType, int64_t, float>, std::shared_ptr<const Pool>>
      pools_;
  uint64_t matrices_ = 0;
};

// Encodes random values; for types that have no encoder, random blocks of the
// same deviation. `columns` is a multiple of the block size.
std::vector<std::byte> encode_random(DType dtype, int64_t columns,
                                     float deviation, Random* random);

}  // namespace rc::bench
