// Turns the first bytes of a file into a File, or throws. See file.h for what
// is promised.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "files/gguf/file.h"

namespace rc::gguf {

class Parser {
 public:
  // Thrown by parse if the file is as long as it says, but so many of its bytes
  // are needed at least.
  struct NeedsMore {
    uint64_t bytes;
  };

  // `bytes` are the first ones of a file of `size`.
  Parser(std::span<const std::byte> bytes, uint64_t size, std::string name);

  // To be called once. The result keeps alive what owns the bytes. The data of
  // tensors will be read from `source`; nullptr: all of it is in `bytes`.
  std::shared_ptr<const File> parse(std::shared_ptr<const void> owner,
                                    std::shared_ptr<const Source> source);

 private:
  // Throws RC_E_FORMAT with the file's name before the parts.
  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const;

  // It could not be asked for: names of the C ABI end with a zero byte.
  void refuse_zero_byte(const char* what, std::string_view text) const;

  // The next bytes, which `what` names for the message if they are missing.
  std::span<const std::byte> take(uint64_t count, const char* what);
  template <class T>
  T read(const char* what);
  std::string_view read_string(const char* what);
  uint64_t remaining() const { return file_->size_ - position_; }

  void read_header();
  void read_entries();
  void read_value(Entry* entry);
  // Steps over the elements of an array and returns how many there are.
  uint64_t skip_array(ValueType* element_type, int depth,
                      std::span<const std::byte>* elements);
  ValueType read_value_type();
  void read_alignment();
  void read_tensor_infos();
  uint64_t read_shape(Tensor* tensor);
  void place_tensors();
  void refuse_overlaps() const;

  std::span<const std::byte> bytes_;
  uint64_t position_ = 0;
  std::shared_ptr<File> file_;
  uint64_t entry_count_ = 0;
  uint64_t tensor_count_ = 0;
  // The place that is being read, for messages: empty, or "key 'x'", "tensor
  // 'y'".
  std::string context_;
};

}  // namespace rc::gguf
