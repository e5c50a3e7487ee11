#include "model/fingerprint.h"

#include <algorithm>
#include <array>
#include <string>

namespace rc::model {
namespace {

constexpr uint64_t kSampleBytes = 256;

class Hash {
 public:
  void bytes(std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) {
      value_ = (value_ ^ static_cast<uint64_t>(byte)) * 0x100000001b3;
    }
  }
  void number(uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) {
      value_ = (value_ ^ ((number >> shift) & 0xFF)) * 0x100000001b3;
    }
  }
  void text(std::string_view text) {
    number(text.size());
    bytes(std::as_bytes(std::span(text.data(), text.size())));
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace

uint64_t fingerprint(const gguf::File& file) {
  Hash hash;
  const std::string_view architecture = file.get_string("general.architecture");
  const std::string prefix = std::string(architecture) + ".";
  hash.text(architecture);
  for (const gguf::Entry& entry : file.entries()) {
    if (!entry.key.starts_with(prefix) &&
        !entry.key.starts_with("tokenizer.")) {
      continue;
    }
    hash.text(entry.key);
    hash.number(static_cast<uint64_t>(entry.type));
    hash.number(static_cast<uint64_t>(entry.element_type));
    hash.number(entry.count);
    hash.number(entry.bytes.size());
    hash.bytes(entry.bytes);
  }
  std::array<std::byte, kSampleBytes> first_bytes;
  for (const gguf::Tensor& tensor : file.tensors()) {
    hash.text(tensor.name);
    hash.number(static_cast<uint64_t>(tensor.dtype));
    hash.number(tensor.shape.size());
    for (const int64_t size : tensor.shape) {
      hash.number(static_cast<uint64_t>(size));
    }
    const auto sample =
        std::span(first_bytes).first(std::min(tensor.bytes, kSampleBytes));
    file.read(tensor, 0, sample);
    hash.bytes(sample);
  }
  return hash.value();
}

}  // namespace rc::model
