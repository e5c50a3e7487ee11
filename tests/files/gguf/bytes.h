// Files made by hand, also such as no writer would make.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "files/gguf/file.h"

namespace rc::gguf::test {

class Bytes {
 public:
  template <class T>
  Bytes& number(T value) {
    const char* bytes = reinterpret_cast<const char*>(&value);
    data_.append(bytes, sizeof(T));
    return *this;
  }
  Bytes& text(std::string_view text) {
    number<uint64_t>(text.size());
    data_ += text;
    return *this;
  }
  Bytes& header(uint64_t tensors, uint64_t entries, uint32_t version = 3) {
    data_ += "GGUF";
    return number(version).number(tensors).number(entries);
  }
  Bytes& key(std::string_view key, ValueType type) {
    return text(key).number(static_cast<uint32_t>(type));
  }
  Bytes& array(ValueType type, uint64_t count) {
    return number(static_cast<uint32_t>(type)).number(count);
  }
  // Dimensions as in the file: fastest first.
  Bytes& tensor(std::string_view name, const std::vector<uint64_t>& dimensions,
                DType dtype, uint64_t offset) {
    text(name).number(static_cast<uint32_t>(dimensions.size()));
    for (const uint64_t size : dimensions) number(size);
    return number(dtype).number(offset);
  }
  Bytes& align(size_t alignment = 32) {
    while (data_.size() % alignment != 0) data_ += '\0';
    return *this;
  }
  Bytes& zeros(size_t count) {
    data_.append(count, '\0');
    return *this;
  }
  const std::string& data() const { return data_; }

  std::shared_ptr<const File> open() const {
    const auto owner = std::make_shared<std::string>(data_);
    return File::from_memory(owner, std::as_bytes(std::span(*owner)), "test");
  }

  // "" if the bytes are a good file, else the message.
  std::string refusal() const {
    try {
      open();
    } catch (const Error& error) {
      return error.status() == RC_E_FORMAT ? error.message() : "wrong status";
    }
    return "";
  }

 private:
  std::string data_;
};

}  // namespace rc::gguf::test
