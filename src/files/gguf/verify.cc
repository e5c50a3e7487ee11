#include "files/gguf/verify.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "base/quote.h"

namespace rc::gguf {
namespace {

// A multiple of every block size; the bytes and the values fit a cache.
constexpr int64_t kChunk = 16384;
// So many are read at once: where a tensor is put together while it is read,
// small parts take long.
constexpr int64_t kReadElements = 32 * kChunk;

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
    const Decoder decode = find_decoder(tensor.dtype);
    const int64_t count = element_count(tensor);
    // Rows are whole blocks, so a tensor decodes like one long row.
    for (int64_t start = 0; start < count; start += kReadElements) {
      const int64_t elements = std::min(kReadElements, count - start);
      bytes_.resize(*row_bytes(tensor.dtype, elements));
      file_.read(tensor, *row_bytes(tensor.dtype, start), bytes_);
      const std::byte* source = bytes_.data();
      for (int64_t done = 0; done < elements; done += kChunk) {
        const int64_t columns = std::min(kChunk, elements - done);
        decode(source, values_.data(), columns);
        check_finite(tensor, start + done, columns);
        const uint64_t size = *row_bytes(tensor.dtype, columns);
        source += size;
        advance(size);
      }
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
