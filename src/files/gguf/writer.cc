#include "files/gguf/writer.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/checked.h"
#include "base/checksum.h"
#include "base/error.h"
#include "base/new_file.h"
#include "base/quote.h"

namespace rc::gguf {
namespace {

template <class T>
void append(T value, std::vector<std::byte>* target) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  target->insert(target->end(), bytes.begin(), bytes.end());
}

void append_bytes(std::span<const std::byte> bytes,
                  std::vector<std::byte>* target) {
  // Not insert(): GCC 12 warns at -O3 of an overflow that cannot happen.
  const size_t size = target->size();
  target->resize(size + bytes.size());
  std::copy(bytes.begin(), bytes.end(), target->data() + size);
}

uint64_t align(uint64_t value, uint64_t alignment) {
  const auto result = checked_align(value, alignment);
  if (!result) fail(RC_E_INVALID_ARGUMENT, "the file exceeds 2^64 bytes");
  return *result;
}

// Bytes of a tensor; throws if it can't be written.
uint64_t tensor_bytes(std::string_view name, DType dtype,
                      std::span<const int64_t> shape) {
  if (name.empty() || name.size() > kMaxTensorNameBytes || !is_utf8(name)) {
    fail(RC_E_INVALID_ARGUMENT, "tensor name ", quote(name),
         " must be UTF-8 of 1 to ", kMaxTensorNameBytes, " bytes");
  }
  if (shape.empty() || shape.size() > kMaxRank) {
    fail(RC_E_INVALID_ARGUMENT, "tensor ", quote(name), " has ", shape.size(),
         " dimensions; 1 to ", kMaxRank, " are possible");
  }
  std::optional<uint64_t> bytes = row_bytes(dtype, shape.back());
  if (!bytes) {
    fail(RC_E_INVALID_ARGUMENT, "tensor ", quote(name), ": rows of ",
         shape.back(), " elements cannot be ", dtype_name(dtype));
  }
  std::optional<int64_t> elements = 1;
  for (const int64_t size : shape) {
    if (size <= 0) {
      fail(RC_E_INVALID_ARGUMENT, "tensor ", quote(name),
           " has a dimension of ", size);
    }
    if (elements) elements = checked_mul(*elements, size);
  }
  if (elements) {
    bytes =
        checked_mul(*bytes, static_cast<uint64_t>(*elements / shape.back()));
  }
  if (!elements || !bytes) {
    fail(RC_E_INVALID_ARGUMENT, "tensor ", quote(name),
         " exceeds 2^63-1 elements or 2^64-1 bytes");
  }
  return *bytes;
}

void put_zeros(uint64_t count, const Writer::Put& put) {
  static constexpr std::byte kZeros[4096] = {};
  while (count > 0) {
    const uint64_t part = std::min<uint64_t>(count, sizeof(kZeros));
    put(std::span(kZeros, part));
    count -= part;
  }
}

}  // namespace

Writer::Writer(uint32_t alignment) : alignment_(alignment) {
  if (!std::has_single_bit(alignment)) {
    fail(RC_E_INVALID_ARGUMENT, "alignment ", alignment,
         " is not a power of two");
  }
  if (alignment != kDefaultAlignment) add("general.alignment", alignment);
  keys_.insert("general.alignment");
}

void Writer::append_string(std::string_view text,
                           std::vector<std::byte>* target) {
  append<uint64_t>(text.size(), target);
  append_bytes(std::as_bytes(std::span(text.data(), text.size())), target);
}

void Writer::append_entry(std::string_view key,
                          std::span<const std::byte> value) {
  if (key.empty() || key.size() > kMaxKeyBytes || !is_utf8(key)) {
    fail(RC_E_INVALID_ARGUMENT, "key ", quote(key), " must be UTF-8 of 1 to ",
         kMaxKeyBytes, " bytes");
  }
  if (entry_count_ >= kMaxEntries) {
    fail(RC_E_INVALID_ARGUMENT, "a file has at most ", kMaxEntries,
         " metadata entries");
  }
  std::vector<std::byte> entry;
  append_string(key, &entry);
  append_bytes(value, &entry);
  // All that may throw comes first.
  const size_t needed = entries_.size() + entry.size();
  if (entries_.capacity() < needed) {
    entries_.reserve(std::max(needed, 2 * entries_.capacity()));
  }
  if (!keys_.emplace(key).second) {
    fail(RC_E_INVALID_ARGUMENT, "key ", quote(key), " is already there");
  }
  append_bytes(entry, &entries_);
  ++entry_count_;
}

void Writer::add_value(std::string_view key, ValueType type,
                       std::span<const std::byte> bytes) {
  std::vector<std::byte> value;
  append(static_cast<uint32_t>(type), &value);
  append_bytes(bytes, &value);
  append_entry(key, value);
}

void Writer::add_array_value(std::string_view key, ValueType element_type,
                             uint64_t count, std::span<const std::byte> bytes) {
  std::vector<std::byte> value;
  append(static_cast<uint32_t>(ValueType::kArray), &value);
  append(static_cast<uint32_t>(element_type), &value);
  append(count, &value);
  append_bytes(bytes, &value);
  append_entry(key, value);
}

void Writer::add(std::string_view key, std::string_view value) {
  std::vector<std::byte> bytes;
  append_string(value, &bytes);
  add_value(key, ValueType::kString, bytes);
}

void Writer::add(const Entry& entry) {
  if (entry.type == ValueType::kArray) {
    add_array_value(entry.key, entry.element_type, entry.count, entry.bytes);
  } else if (entry.type == ValueType::kString) {
    add(entry.key, {reinterpret_cast<const char*>(entry.bytes.data()),
                    entry.bytes.size()});
  } else {
    add_value(entry.key, entry.type, entry.bytes);
  }
}

void Writer::add_tensor(std::string_view name, DType dtype,
                        std::span<const int64_t> shape, Producer producer) {
  const uint64_t bytes = tensor_bytes(name, dtype, shape);
  const uint64_t offset = align(data_bytes_, alignment_);
  const auto end = checked_add(offset, bytes);
  if (!end) fail(RC_E_INVALID_ARGUMENT, "the file exceeds 2^64 bytes");
  if (tensors_.size() >= kMaxTensors) {
    fail(RC_E_INVALID_ARGUMENT, "a file has at most ", kMaxTensors, " tensors");
  }
  const auto [place, added] = names_.emplace(name);
  if (!added) {
    fail(RC_E_INVALID_ARGUMENT, "tensor ", quote(name), " is already there");
  }
  try {
    tensors_.push_back(Item{std::string(name),
                            dtype,
                            {shape.begin(), shape.end()},
                            bytes,
                            offset,
                            std::move(producer)});
  } catch (...) {
    names_.erase(place);
    throw;
  }
  data_bytes_ = *end;
}

void Writer::add_tensor(std::string_view name, DType dtype,
                        std::span<const int64_t> shape,
                        std::span<const std::byte> data) {
  const uint64_t bytes = tensor_bytes(name, dtype, shape);
  if (data.size() != bytes) {
    fail(RC_E_INVALID_ARGUMENT, "tensor ", quote(name), " has ", bytes,
         " bytes, ", data.size(), " were given");
  }
  add_tensor(name, dtype, shape, [data](const Put& put) { put(data); });
}

void Writer::add_tensor(std::string_view name, DType dtype,
                        std::span<const int64_t> shape,
                        std::span<const float> values) {
  tensor_bytes(name, dtype, shape);
  if (!encodable(dtype)) {
    fail(RC_E_INVALID_ARGUMENT, "tensor ", quote(name), " cannot be ",
         dtype_name(dtype), ": there is no encoder");
  }
  int64_t elements = 1;
  for (const int64_t size : shape) elements *= size;
  if (values.size() != static_cast<uint64_t>(elements)) {
    fail(RC_E_INVALID_ARGUMENT, "tensor ", quote(name), " has ", elements,
         " elements, ", values.size(), " were given");
  }
  const int64_t columns = shape.back();
  add_tensor(name, dtype, shape, [=](const Put& put) {
    std::vector<std::byte> row(*row_bytes(dtype, columns));
    for (auto rest = values; !rest.empty();
         rest = rest.subspan(static_cast<size_t>(columns))) {
      encode_row(dtype, rest.data(), row.data(), columns);
      put(row);
    }
  });
}

std::vector<std::byte> Writer::header() const {
  std::vector<std::byte> bytes;
  append_bytes(std::as_bytes(std::span("GGUF", 4)), &bytes);
  append<uint32_t>(3, &bytes);
  append<uint64_t>(tensors_.size(), &bytes);
  append<uint64_t>(entry_count_, &bytes);
  append_bytes(entries_, &bytes);
  for (const Item& tensor : tensors_) {
    append_string(tensor.name, &bytes);
    append(static_cast<uint32_t>(tensor.shape.size()), &bytes);
    for (size_t i = tensor.shape.size(); i-- > 0;) {
      append(tensor.shape[i], &bytes);
    }
    append(tensor.dtype, &bytes);
    append(tensor.offset, &bytes);
  }
  if (!tensors_.empty()) bytes.resize(align(bytes.size(), alignment_));
  return bytes;
}

uint64_t Writer::size() const {
  const auto size =
      checked_add<uint64_t>(header().size(), align(data_bytes_, alignment_));
  const auto whole =
      size ? checked_add<uint64_t>(*size, has_checksum_ ? sizeof(uint64_t) : 0)
           : std::nullopt;
  if (!whole) fail(RC_E_INVALID_ARGUMENT, "the file exceeds 2^64 bytes");
  return *whole;
}

void Writer::write(const Put& put) const {
  if (!has_checksum_) return write_tensors(put);
  Checksum sum;
  write_tensors([&](std::span<const std::byte> bytes) {
    sum.add(bytes);
    put(bytes);
  });
  const uint64_t value = sum.value();
  put(std::as_bytes(std::span(&value, 1)));
}

void Writer::write_tensors(const Put& put) const {
  put(header());
  for (const Item& tensor : tensors_) {
    uint64_t written = 0;
    const auto check = [&](uint64_t total) {
      if (total != tensor.bytes) {
        fail(RC_E_INVALID_ARGUMENT, "tensor ", quote(tensor.name), " has ",
             tensor.bytes, " bytes, its producer gave ", total);
      }
    };
    tensor.producer([&](std::span<const std::byte> bytes) {
      written += bytes.size();
      if (written > tensor.bytes) check(written);
      put(bytes);
    });
    check(written);
    // Some readers want the padding after the last tensor, too.
    put_zeros(align(written, alignment_) - written, put);
  }
}

void Writer::write_file(const std::string& path) const {
  NewFile file(path);
  write([&](std::span<const std::byte> bytes) { file.append(bytes); });
  file.commit();
}

std::vector<std::byte> Writer::write_memory() const {
  std::vector<std::byte> result;
  result.reserve(size());
  write(
      [&](std::span<const std::byte> bytes) { append_bytes(bytes, &result); });
  return result;
}

}  // namespace rc::gguf
