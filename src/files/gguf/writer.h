// Writing GGUF files, version 3.
//
// Entries and tensors are written in the order in which they were added. The
// data of tensors is not held: it is read or produced while writing, so a file
// may be far larger than memory. For one thread. Misuse (a key twice, a shape
// that the type can't have) throws RC_E_INVALID_ARGUMENT and changes nothing.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "files/gguf/file.h"
#include "tensor/dtype.h"

namespace rc::gguf {

// The type of metadata that a C++ type is written as.
template <class T>
consteval ValueType value_type_of() {
  if constexpr (std::same_as<T, uint8_t>) return ValueType::kU8;
  if constexpr (std::same_as<T, int8_t>) return ValueType::kI8;
  if constexpr (std::same_as<T, uint16_t>) return ValueType::kU16;
  if constexpr (std::same_as<T, int16_t>) return ValueType::kI16;
  if constexpr (std::same_as<T, uint32_t>) return ValueType::kU32;
  if constexpr (std::same_as<T, int32_t>) return ValueType::kI32;
  if constexpr (std::same_as<T, uint64_t>) return ValueType::kU64;
  if constexpr (std::same_as<T, int64_t>) return ValueType::kI64;
  if constexpr (std::same_as<T, float>) return ValueType::kF32;
  if constexpr (std::same_as<T, double>) return ValueType::kF64;
  if constexpr (std::same_as<T, bool>) return ValueType::kBool;
  return ValueType::kArray;
}

template <class T>
concept Scalar = value_type_of<T>()
!= ValueType::kArray;

class Writer {
 public:
  // Takes the next bytes of what is being written.
  using Put = std::function<void(std::span<const std::byte>)>;
  // Hands all bytes of a tensor to `put`, in any number of pieces. Called each
  // time that the file is written. May throw.
  using Producer = std::function<void(const Put& put)>;

  // A power of two. Another than 32 is written as "general.alignment".
  explicit Writer(uint32_t alignment = kDefaultAlignment);

  // The value's exact type decides the type in the file: uint32_t{1}, 1.0f.
  template <Scalar T>
  void add(std::string_view key, T value) {
    add_value(key, value_type_of<T>(), std::as_bytes(std::span(&value, 1)));
  }
  void add(std::string_view key, std::string_view value);
  // Any contiguous range of scalars: std::vector<int32_t>, std::array<bool, 4>.
  template <class Range>
  void add_array(std::string_view key, const Range& values) {
    const std::span span(values);
    using T = std::remove_cv_t<typename decltype(span)::element_type>;
    static_assert(Scalar<T>);
    add_array_value(key, value_type_of<T>(), span.size(), std::as_bytes(span));
  }
  // Any range of what converts to std::string_view.
  template <class Range>
  void add_strings(std::string_view key, const Range& values) {
    std::vector<std::byte> bytes;
    uint64_t count = 0;
    for (const std::string_view text : values) {
      append_string(text, &bytes);
      ++count;
    }
    add_array_value(key, ValueType::kString, count, bytes);
  }
  // A copy of an entry of another file.
  void add(const Entry& entry);

  // `shape` slowest dimension first. The data must live until the file is
  // written.
  void add_tensor(std::string_view name, DType dtype,
                  std::span<const int64_t> shape,
                  std::span<const std::byte> data);
  void add_tensor(std::string_view name, DType dtype,
                  std::span<const int64_t> shape, Producer producer);
  // Encodes the values to `dtype` while writing.
  void add_tensor(std::string_view name, DType dtype,
                  std::span<const int64_t> shape,
                  std::span<const float> values);

  // Ends the file with 8 bytes more: the checksum (base/checksum.h) of all
  // bytes before them. See File::ends_with_checksum.
  void end_with_checksum() { has_checksum_ = true; }

  // Bytes of the whole file.
  uint64_t size() const;
  // Everything before the data of tensors. Who needs no more may give empty
  // producers.
  std::vector<std::byte> header() const;
  // Writes the file under a temporary name and renames it; replaces a file of
  // that name. Throws RC_E_IO, leaving nothing behind, if the disk is full.
  void write_file(const std::string& path) const;
  std::vector<std::byte> write_memory() const;

 private:
  struct Item {
    std::string name;
    DType dtype;
    std::vector<int64_t> shape;
    uint64_t bytes;
    uint64_t offset;  // from the start of tensor data
    Producer producer;
  };

  static void append_string(std::string_view text,
                            std::vector<std::byte>* target);
  void add_value(std::string_view key, ValueType type,
                 std::span<const std::byte> bytes);
  void add_array_value(std::string_view key, ValueType element_type,
                       uint64_t count, std::span<const std::byte> bytes);
  void append_entry(std::string_view key, std::span<const std::byte> value);
  void write(const Put& put) const;
  void write_tensors(const Put& put) const;

  uint64_t alignment_;
  bool has_checksum_ = false;
  uint64_t entry_count_ = 0;
  std::vector<std::byte> entries_;  // as they are in the file
  std::set<std::string, std::less<>> keys_;
  std::vector<Item> tensors_;
  std::set<std::string, std::less<>> names_;
  uint64_t data_bytes_ =
      0;  // of the tensors so far, without padding at the end
};

}  // namespace rc::gguf
