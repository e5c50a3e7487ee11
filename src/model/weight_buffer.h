// Room for the bytes of one weight at a time, on their way from the file to a
// device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "files/gguf/file.h"
#include "files/quantize/crew.h"
#include "model/weight_name.h"

namespace rc::model {

class WeightBuffer {
 public:
  WeightBuffer() = default;
  ~WeightBuffer();
  WeightBuffer(const WeightBuffer&) = delete;
  WeightBuffer& operator=(const WeightBuffer&) = delete;

  // Receives during read(), on its caller's thread, the fraction of the weight
  // that is there, about; it may throw. Empty: not reported.
  using Progress = std::function<void(double fraction)>;

  explicit WeightBuffer(Progress progress) : progress_(std::move(progress)) {}

  // Reads the data of a tensor, with so many threads at most. Valid until the
  // next call. Throws RC_E_IO if the file does not hold it any more,
  // RC_E_OUT_OF_MEMORY.
  const std::byte* read(const gguf::File& file, const gguf::Tensor& tensor,
                        int threads);

  // The same with some rows of each head of a matrix [heads * period, columns],
  // as the weights of their names have them.
  const std::byte* read(const gguf::File& file, const gguf::Tensor& tensor,
                        const RowsOfHeads& rows);

 private:
  std::span<std::byte> take(uint64_t size);

  const Progress progress_;
  std::optional<quantize::Crew> crew_;  // made when it is first of use
  std::span<std::byte> bytes_;          // mapped
};

}  // namespace rc::model
