#include "files/quantized_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/checked.h"
#include "files/ggml/vocabulary.h"
#include "files/gguf/writer.h"
#include "files/quantize/mixes.h"
#include "files/recoding.h"

namespace rc {
namespace {

class QuantizedSource : public gguf::Source {
 public:
  QuantizedSource(std::shared_ptr<const gguf::File> file,
                  const std::string& type)
      : file_(std::move(file)),
        recoding_(*file_, {.type = type, .requantizes = true}) {
    if (file_->identity() != nullptr) identity_ = *file_->identity();
    identity_.form += quantize::name_of(quantize::find_mix(type));
  }

  // Returns the bytes before the tensors, whose places it decides. To be called
  // once.
  std::vector<std::byte> header() {
    const uint64_t alignment =
        std::max(file_->alignment(), gguf::kDefaultAlignment);
    gguf::Writer writer(static_cast<uint32_t>(alignment));
    recoding_.add_metadata(writer);
    add_ggml_vocabulary(*file_, writer);
    const auto tensors = file_->tensors();
    for (size_t i = 0; i < tensors.size(); ++i) {
      writer.add_tensor(tensors[i].name, recoding_.type(i), tensors[i].shape,
                        gguf::Writer::Producer());
    }
    std::vector<std::byte> header = writer.header();
    size_ = writer.size();
    uint64_t offset = header.size();
    for (size_t i = 0; i < tensors.size(); ++i) {
      offsets_.push_back(offset);
      offset = *checked_align(
          offset + *row_bytes(recoding_.type(i), elements_of(tensors[i])),
          alignment);
    }
    return header;
  }

  uint64_t size() const override { return size_; }
  const Identity& identity() const override { return identity_; }
  void check_unchanged() const override { file_->check_unchanged(); }
  bool computes() const override { return true; }

  // Within one tensor.
  void read(uint64_t offset, std::span<std::byte> target,
            const std::string& /*what*/) const override {
    const auto next =
        std::upper_bound(offsets_.begin(), offsets_.end(), offset);
    const auto i = static_cast<size_t>(next - offsets_.begin() - 1);
    const gguf::Tensor& tensor = file_->tensors()[i];
    offset -= offsets_[i];
    if (recoding_.type(i) == tensor.dtype) {
      file_->read(tensor, offset, target);
    } else {
      make(i, offset, target);
    }
  }

 private:
  static int64_t elements_of(const gguf::Tensor& tensor) {
    int64_t count = 1;
    for (const int64_t size : tensor.shape) count *= size;
    return count;
  }

  // Pieces begin where blocks of both types do.
  void make(size_t i, uint64_t offset, std::span<std::byte> target) const {
    const gguf::Tensor& tensor = file_->tensors()[i];
    const DTypeInfo& to = *dtype_info(recoding_.type(i));
    const int64_t step =
        std::max(to.block_size, dtype_info(tensor.dtype)->block_size);
    const auto block_bytes = static_cast<uint64_t>(to.block_bytes);
    const int64_t count = elements_of(tensor);
    Recoding::Scratch scratch;
    std::vector<std::byte> piece;
    while (!target.empty()) {
      const int64_t element =
          static_cast<int64_t>(offset / block_bytes) * to.block_size;
      const int64_t begin = element / step * step;
      const uint64_t skipped = offset - *row_bytes(recoding_.type(i), begin);
      // No more than a piece, nor than is wanted.
      const auto blocks = static_cast<int64_t>(std::min<uint64_t>(
          (skipped + target.size() + block_bytes - 1) / block_bytes,
          Recoding::kPieceElements));
      const int64_t wanted = (blocks * to.block_size + step - 1) / step * step;
      recoding_.encode(
          i, begin, std::min({wanted, Recoding::kPieceElements, count - begin}),
          scratch, piece);
      const auto part =
          std::min<uint64_t>(piece.size() - skipped, target.size());
      std::memcpy(target.data(), piece.data() + skipped, part);
      target = target.subspan(part);
      offset += part;
    }
  }

  const std::shared_ptr<const gguf::File> file_;
  const Recoding recoding_;
  Identity identity_;
  std::vector<uint64_t> offsets_;
  uint64_t size_ = 0;
};

}  // namespace

std::shared_ptr<const gguf::File> quantized_file(
    std::shared_ptr<const gguf::File> file, const std::string& type) {
  const std::string name = file->name();
  const auto source = std::make_shared<QuantizedSource>(std::move(file), type);
  auto header = std::make_shared<std::vector<std::byte>>(source->header());
  return gguf::File::from_header(std::move(header), source, name);
}

}  // namespace rc
