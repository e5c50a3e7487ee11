#include "files/safetensors/file.h"

#include <algorithm>

#include "base/error.h"
#include "base/quote.h"

namespace rc::safetensors {

std::shared_ptr<const File> File::open(std::shared_ptr<const OpenFile> opened) {
  std::shared_ptr<File> file(new File(std::move(opened)));
  const OpenFile& source = *file->file_;
  uint64_t length = 0;
  if (source.size() < sizeof length) {
    fail(RC_E_FORMAT, source.path(), ": a file of ", source.size(),
         " bytes is no safetensors file");
  }
  source.read(0, std::as_writable_bytes(std::span(&length, 1)), "the header");
  const uint64_t rest = source.size() - sizeof length;
  if (length > std::min(rest, kMaxHeaderBytes)) {
    fail(RC_E_FORMAT, source.path(), ": a header of ", length,
         " bytes is announced; at most ", std::min(rest, kMaxHeaderBytes),
         " are possible; it is no safetensors file, or is truncated");
  }
  std::string json(length, '\0');
  source.read(sizeof length, std::as_writable_bytes(std::span(json)),
              "the header");
  file->data_ = sizeof length + length;
  file->tensors_ = parse_header(json, rest - length, source.path());
  return file;
}

const Tensor* File::find(std::string_view name) const {
  const auto place =
      std::lower_bound(tensors_.begin(), tensors_.end(), name,
                       [](const Tensor& tensor, std::string_view text) {
                         return tensor.name < text;
                       });
  return place == tensors_.end() || place->name != name ? nullptr : &*place;
}

void File::read(const Tensor& tensor, uint64_t offset,
                std::span<std::byte> target) const {
  file_->read(data_ + tensor.offset + offset, target,
              cat("tensor ", quote(tensor.name)));
}

}  // namespace rc::safetensors
