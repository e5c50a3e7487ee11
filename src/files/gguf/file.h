// Reading GGUF files, versions 2 and 3, little-endian.
//
// A file is hostile until proven otherwise: opening one checks everything that
// can be checked without looking at tensor data, and throws rc::Error
// (RC_E_FORMAT, RC_E_NOT_FOUND, RC_E_IO) with the file, key or tensor, value
// and limit in the message. What was opened can be read without further
// checks: metadata, names and shapes are copied into memory, which is bounded
// by the size of the file, and only the data of tensors is read when it is
// asked for. Nothing is mapped (see mapped_tensors.h), so that a file that is
// cut short meanwhile, or a disk that fails, is RC_E_IO.
//
// Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "files/gguf/source.h"
#include "tensor/dtype.h"

namespace rc::gguf {

// Types of metadata values, numbered as in the file.
enum class ValueType : uint32_t {
  kU8 = 0,
  kI8 = 1,
  kU16 = 2,
  kI16 = 3,
  kU32 = 4,
  kI32 = 5,
  kF32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kU64 = 10,
  kI64 = 11,
  kF64 = 12,
};
// "u32", "string", ...; "unknown" for a number that is no type.
const char* value_type_name(ValueType type);
// Bytes of one value of a scalar type; 0 for strings, arrays and unknown types.
size_t value_bytes(ValueType type);

// Limits beyond those of the format's description (keys of at most 65535
// bytes, 4 dimensions), which bound memory and time.
inline constexpr uint64_t kMaxEntries = 65536;
inline constexpr uint64_t kMaxTensors = 131072;
inline constexpr uint64_t kMaxKeyBytes = 65535;
inline constexpr uint64_t kMaxTensorNameBytes = 64;
inline constexpr uint32_t kMaxRank = 4;
inline constexpr int kMaxArrayDepth = 4;
inline constexpr uint64_t kDefaultAlignment = 32;
// Of everything before the data of tensors; vocabularies take some 16 MiB.
inline constexpr uint64_t kMaxHeaderBytes = uint64_t{256} << 20;

// One metadata entry: a view into memory that the file holds. For an array,
// `type` is kArray and `element_type` and `count` describe it; nested arrays
// are kept as bytes only.
struct Entry {
  std::string_view key;
  ValueType type;
  ValueType element_type;            // of an array; else equal to type
  uint64_t count;                    // elements of an array; else 1
  std::span<const std::byte> bytes;  // the value, without type and count;
                                     // at any address
};

// One tensor. `shape` is written slowest dimension first (the file stores the
// fastest first), rank 1 to 4.
struct Tensor {
  std::string_view name;
  DType dtype;
  std::vector<int64_t> shape;
  uint64_t bytes;   // of the data
  uint64_t offset;  // of the data from the file's start; aligned as the file
                    // says, which may be to 1
};

// The value of a key has another type than is wanted.
class WrongType : public Error {
 public:
  WrongType(std::string message, std::string_view wrong)
      : Error(RC_E_FORMAT, std::move(message)), key(wrong) {}
  const std::string key;
};

class File {
 public:
  // The path is UTF-8.
  static std::shared_ptr<const File> open(const std::string& path);
  // Reads from memory that `owner` keeps alive; `name` is used in messages.
  static std::shared_ptr<const File> from_memory(
      std::shared_ptr<const void> owner, std::span<const std::byte> bytes,
      std::string name);
  // `header` is all that comes before the data of tensors, which is read from
  // `source`.
  static std::shared_ptr<const File> from_header(
      std::shared_ptr<const std::vector<std::byte>> header,
      std::shared_ptr<const Source> source, std::string name);

  const std::string& name() const { return name_; }
  uint32_t version() const { return version_; }
  uint64_t size() const { return size_; }
  uint64_t alignment() const { return alignment_; }
  std::span<const Entry> entries() const { return entries_; }
  std::span<const Tensor> tensors() const { return tensors_; }
  const Entry* find(std::string_view key) const;           // or nullptr
  const Tensor* find_tensor(std::string_view name) const;  // or nullptr

  // Metadata by key. The find_* return nullopt if the key is absent and throw
  // if it has another type (any integer type that holds the value will do for
  // an integer, f32 and f64 for a float; arrays alike, and find_ints takes
  // arrays of bool too, as 0 and 1). The others throw RC_E_FORMAT naming file
  // and key if it is absent.
  std::optional<int64_t> find_int(std::string_view key) const;
  std::optional<double> find_float(std::string_view key) const;
  std::optional<bool> find_bool(std::string_view key) const;
  std::optional<std::string_view> find_string(std::string_view key) const;
  std::optional<std::vector<int64_t>> find_ints(std::string_view key) const;
  std::optional<std::vector<float>> find_floats(std::string_view key) const;
  std::optional<std::vector<std::string_view>> find_strings(
      std::string_view key) const;
  // The bytes of an array of 8-bit integers.
  std::optional<std::span<const std::byte>> find_bytes(
      std::string_view key) const;
  int64_t get_int(std::string_view key) const;
  double get_float(std::string_view key) const;
  std::string_view get_string(std::string_view key) const;

  // Fills `target` with the data of one of tensors() from `offset` on, within
  // its bytes. Throws RC_E_IO naming the tensor if it is not there any more.
  void read(const Tensor& tensor, uint64_t offset,
            std::span<std::byte> target) const;
  // The bytes before the data of tensors; only of a file that was read from
  // memory.
  std::vector<std::byte> header() const {
    const auto bytes = memory_.subspan(0, header_bytes_);
    return {bytes.begin(), bytes.end()};
  }
  // All of its data.
  std::vector<std::byte> read(const Tensor& tensor) const;

  // Whether the last 8 bytes are the checksum of all before them, as
  // Writer::end_with_checksum writes it. Reads the whole file.
  bool ends_with_checksum() const;

  // Throws RC_E_IO if the file was written to since it was opened. To be called
  // after long reads: a file that is overwritten need not become shorter.
  void check_unchanged() const;

  // nullptr: it was read from memory.
  const Source::Identity* identity() const {
    return source_ == nullptr || source_->identity().files.empty()
               ? nullptr
               : &source_->identity();
  }
  // Whether MappedTensors can have it: files hold the tensors as they are.
  bool mappable() const {
    return source_ == nullptr || !source_->files().empty();
  }
  // The source of tensors; nullptr: memory.
  const Source* source() const { return source_.get(); }

 private:
  friend class Parser;
  friend class MappedTensors;
  File() = default;

  // The entry, if it is there; throws unless it is an array.
  const Entry* find_array(std::string_view key, const char* wanted) const;
  [[noreturn]] void wrong_type(const Entry& entry, const char* wanted) const;
  [[noreturn]] void absent(std::string_view key) const;

  std::string name_;
  std::shared_ptr<const void> owner_;     // of what the views show
  std::shared_ptr<const Source> source_;  // nullptr: tensors are in memory_
  std::span<const std::byte> memory_;
  uint32_t version_ = 0;
  uint64_t size_ = 0;
  uint64_t header_bytes_ = 0;  // before the data of tensors
  uint64_t alignment_ = 32;
  std::vector<Entry> entries_;
  std::vector<Tensor> tensors_;
  // Indices in the order of keys and of names, for searching. No hash table:
  // a hostile file could make all its keys collide.
  std::vector<uint32_t> entry_order_;
  std::vector<uint32_t> tensor_order_;
};

}  // namespace rc::gguf
