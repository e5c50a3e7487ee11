#include "files/gguf/verify.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "base/quote.h"

namespace rc::gguf {
namespace {

// A multiple of every block size; the bytes and the values fit a cache.
constexpr int64_t kChunk = 16384;

constexpr uint32_t kInfinityBits = 0x7F800000;

uint32_t magnitude_bits(float value) {
  return std::bit_cast<uint32_t>(value) & 0x7FFFFFFF;
}

int64_t element_count(const Tensor& tensor) {
  int64_t count = 1;
  for (const int64_t size : tensor.shape) count *= size;
  return count;
}

// "[2, 0, 17]", slowest dimension first.
std::string index_text(const Tensor& tensor, int64_t index) {
  std::string text;
  for (size_t i = tensor.shape.size(); i-- > 0;) {
    text = cat(index % tensor.shape[i], text.empty() ? "" : ", ", text);
    index /= tensor.shape[i];
  }
  return "[" + text + "]";
}

class Verifier {
 public:
  Verifier(const File& file, const VerifyProgress& progress)
      : file_(file), progress_(progress), values_(kChunk) {
    for (const Tensor& tensor : file.tensors()) total_ += tensor.bytes;
  }

  void run() {
    for (const Tensor& tensor : file_.tensors()) {
      verify_tensor(tensor);
    }
    file_.check_unchanged();
  }

 private:
  void verify_tensor(const Tensor& tensor) {
    const DTypeInfo* info = dtype_info(tensor.dtype);
    const Decoder decode = find_decoder(tensor.dtype);
    const int64_t count = element_count(tensor);
    // Rows are whole blocks, so a tensor decodes like one long row.
    for (int64_t start = 0; start < count; start += kChunk) {
      const int64_t columns = std::min(kChunk, count - start);
      const auto offset =
          static_cast<uint64_t>(start / info->block_size * info->block_bytes);
      bytes_.resize(*row_bytes(tensor.dtype, columns));
      file_.read(tensor, offset, bytes_);
      decode(bytes_.data(), values_.data(), columns);
      check_finite(tensor, start, columns);
      advance(bytes_.size());
    }
  }

  void check_finite(const Tensor& tensor, int64_t start,
                    int64_t columns) const {
    // The bits of a magnitude grow with it; those of infinity and NaN are the
    // largest. Without a way out of the loop it becomes vector instructions.
    uint32_t largest = 0;
    for (int64_t i = 0; i < columns; ++i) {
      largest = std::max(largest, magnitude_bits(values_[i]));
    }
    if (largest < kInfinityBits) return;
    const auto bad = std::find_if(
        values_.begin(), values_.end(),
        [](float value) { return magnitude_bits(value) >= kInfinityBits; });
    fail(RC_E_FORMAT, file_.name(), ": tensor ", quote(tensor.name),
         " of type ", dtype_name(tensor.dtype), " has the value ", *bad, " at ",
         index_text(tensor, start + (bad - values_.begin())),
         "; the file is damaged, get it again");
  }

  void advance(uint64_t bytes) {
    done_ += bytes;
    if (progress_ && !progress_(done_, total_)) {
      fail(RC_E_CANCELLED, file_.name(), ": stopped after ", done_, " of ",
           total_, " bytes");
    }
  }

  const File& file_;
  const VerifyProgress& progress_;
  std::vector<std::byte> bytes_;
  std::vector<float> values_;
  uint64_t done_ = 0;
  uint64_t total_ = 0;
};

}  // namespace

void verify(const File& file, const VerifyProgress& progress) {
  Verifier(file, progress).run();
}

}  // namespace rc::gguf
