#include "files/gguf/file.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/checksum.h"
#include "base/error.h"
#include "base/quote.h"
#include "files/gguf/parser.h"

namespace rc::gguf {
namespace {

// Bytes that are read at a time.
constexpr size_t kChecksumBuffer = size_t{1} << 20;

// Most files have less before the data of their tensors, or several times it.
constexpr uint64_t kFirstRead = uint64_t{256} << 10;

template <class T>
T load(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

bool is_integer(ValueType type) {
  switch (type) {
    case ValueType::kU8:
    case ValueType::kI8:
    case ValueType::kU16:
    case ValueType::kI16:
    case ValueType::kU32:
    case ValueType::kI32:
    case ValueType::kU64:
    case ValueType::kI64:
      return true;
    default:
      return false;
  }
}

bool is_float(ValueType type) {
  return type == ValueType::kF32 || type == ValueType::kF64;
}

class FileSource : public Source {
 public:
  explicit FileSource(std::shared_ptr<const OpenFile> file)
      : file_(std::move(file)), identity_{{file_->identity()}, {}} {}

  uint64_t size() const override { return file_->size(); }
  void read(uint64_t offset, std::span<std::byte> target,
            const std::string& what) const override {
    file_->read(offset, target, what);
  }
  void check_unchanged() const override { file_->check_unchanged(); }
  const Identity& identity() const override { return identity_; }
  std::vector<std::shared_ptr<const OpenFile>> files() const override {
    return {file_};
  }

 private:
  const std::shared_ptr<const OpenFile> file_;
  const Identity identity_;
};

// An integer or bool; nullopt if it exceeds int64.
std::optional<int64_t> load_int(ValueType type, const std::byte* bytes) {
  switch (type) {
    case ValueType::kU8:
      return load<uint8_t>(bytes);
    case ValueType::kI8:
      return load<int8_t>(bytes);
    case ValueType::kU16:
      return load<uint16_t>(bytes);
    case ValueType::kI16:
      return load<int16_t>(bytes);
    case ValueType::kU32:
      return load<uint32_t>(bytes);
    case ValueType::kI32:
      return load<int32_t>(bytes);
    case ValueType::kBool:
      return load<uint8_t>(bytes) != 0;
    case ValueType::kU64: {
      const auto value = load<uint64_t>(bytes);
      if (value > std::numeric_limits<int64_t>::max()) return std::nullopt;
      return static_cast<int64_t>(value);
    }
    default:
      return load<int64_t>(bytes);
  }
}

double load_float(ValueType type, const std::byte* bytes) {
  return type == ValueType::kF32 ? load<float>(bytes) : load<double>(bytes);
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The item of that name; `order` sorts the items by it.
template <class Item>
const Item* search(const std::vector<Item>& items,
                   const std::vector<uint32_t>& order,
                   std::string_view Item::*name, std::string_view wanted) {
  const auto place = std::lower_bound(
      order.begin(), order.end(), wanted,
      [&](uint32_t i, std::string_view text) { return items[i].*name < text; });
  if (place == order.end() || items[*place].*name != wanted) return nullptr;
  return &items[*place];
}

}  // namespace

const char* value_type_name(ValueType type) {
  static constexpr const char* kNames[] = {
      "u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
      "bool", "string", "array", "u64", "i64", "f64"};
  const auto index = static_cast<uint32_t>(type);
  return index < std::size(kNames) ? kNames[index] : "unknown";
}

size_t value_bytes(ValueType type) {
  static constexpr uint8_t kBytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  const auto index = static_cast<uint32_t>(type);
  return index < std::size(kBytes) ? kBytes[index] : 0;
}

std::shared_ptr<const File> File::open(const std::string& path) {
  const auto source = std::make_shared<FileSource>(OpenFile::open(path));
  auto header = std::make_shared<std::vector<std::byte>>();
  const auto extend = [&](uint64_t bytes) {
    const size_t known = header->size();
    header->resize(std::min(bytes, source->size()));
    source->read(known, std::span(*header).subspan(known), "the metadata");
  };
  const auto parse = [&] {
    return Parser(*header, source->size(), path).parse(header, source);
  };
  extend(kFirstRead);
  for (;;) {
    try {
      auto file = parse();
      if (header->size() - file->header_bytes_ < kFirstRead) return file;
      // Without what was read beyond it. The views are into the copy.
      header = std::make_shared<std::vector<std::byte>>(
          header->begin(),
          header->begin() + static_cast<ptrdiff_t>(file->header_bytes_));
      return parse();
    } catch (const Parser::NeedsMore& more) {
      extend(std::max<uint64_t>(
          more.bytes, std::min<uint64_t>(2 * header->size(), kMaxHeaderBytes)));
    }
  }
}

std::shared_ptr<const File> File::from_memory(std::shared_ptr<const void> owner,
                                              std::span<const std::byte> bytes,
                                              std::string name) {
  return Parser(bytes, bytes.size(), std::move(name))
      .parse(std::move(owner), nullptr);
}

std::shared_ptr<const File> File::from_header(
    std::shared_ptr<const std::vector<std::byte>> header,
    std::shared_ptr<const Source> source, std::string name) {
  Parser parser(*header, source->size(), std::move(name));
  return parser.parse(std::move(header), std::move(source));
}

const Entry* File::find(std::string_view key) const {
  return search(entries_, entry_order_, &Entry::key, key);
}

const Tensor* File::find_tensor(std::string_view name) const {
  return search(tensors_, tensor_order_, &Tensor::name, name);
}

void File::wrong_type(const Entry& entry, const char* wanted) const {
  const bool array = entry.type == ValueType::kArray;
  throw WrongType(cat(name_, ": key ", quote(entry.key), " has type ",
                      array ? "array of " : "",
                      value_type_name(entry.element_type), ", not ", wanted),
                  entry.key);
}

void File::absent(std::string_view key) const {
  fail(RC_E_FORMAT, name_, ": key ", quote(key), " is missing");
}

std::optional<int64_t> File::find_int(std::string_view key) const {
  const Entry* entry = find(key);
  if (entry == nullptr) return std::nullopt;
  if (!is_integer(entry->type)) wrong_type(*entry, "an integer");
  const auto value = load_int(entry->type, entry->bytes.data());
  if (!value) {
    fail(RC_E_FORMAT, name_, ": key ", quote(key), ": ",
         load<uint64_t>(entry->bytes.data()), " exceeds 2^63-1");
  }
  return value;
}

std::optional<double> File::find_float(std::string_view key) const {
  const Entry* entry = find(key);
  if (entry == nullptr) return std::nullopt;
  if (!is_float(entry->type)) wrong_type(*entry, "a float");
  return load_float(entry->type, entry->bytes.data());
}

std::optional<bool> File::find_bool(std::string_view key) const {
  const Entry* entry = find(key);
  if (entry == nullptr) return std::nullopt;
  if (entry->type != ValueType::kBool) wrong_type(*entry, "bool");
  return load<uint8_t>(entry->bytes.data()) != 0;
}

std::optional<std::string_view> File::find_string(std::string_view key) const {
  const Entry* entry = find(key);
  if (entry == nullptr) return std::nullopt;
  if (entry->type != ValueType::kString) wrong_type(*entry, "string");
  return as_text(entry->bytes);
}

const Entry* File::find_array(std::string_view key, const char* wanted) const {
  const Entry* entry = find(key);
  if (entry != nullptr && entry->type != ValueType::kArray) {
    wrong_type(*entry, wanted);
  }
  return entry;
}

std::optional<std::vector<int64_t>> File::find_ints(
    std::string_view key) const {
  const Entry* entry = find_array(key, "an array of integers");
  if (entry == nullptr) return std::nullopt;
  const ValueType type = entry->element_type;
  if (!is_integer(type) && type != ValueType::kBool) {
    wrong_type(*entry, "an array of integers");
  }
  std::vector<int64_t> values(entry->count);
  const std::byte* bytes = entry->bytes.data();
  for (size_t i = 0; i < values.size(); ++i, bytes += value_bytes(type)) {
    const auto value = load_int(type, bytes);
    if (!value) {
      fail(RC_E_FORMAT, name_, ": key ", quote(key), ": element ", i,
           " exceeds 2^63-1");
    }
    values[i] = *value;
  }
  return values;
}

std::optional<std::vector<float>> File::find_floats(
    std::string_view key) const {
  const Entry* entry = find_array(key, "an array of floats");
  if (entry == nullptr) return std::nullopt;
  const ValueType type = entry->element_type;
  if (!is_float(type)) wrong_type(*entry, "an array of floats");
  std::vector<float> values(entry->count);
  const std::byte* bytes = entry->bytes.data();
  for (float& value : values) {
    value = static_cast<float>(load_float(type, bytes));
    bytes += value_bytes(type);
  }
  return values;
}

std::optional<std::vector<std::string_view>> File::find_strings(
    std::string_view key) const {
  const Entry* entry = find_array(key, "an array of strings");
  if (entry == nullptr) return std::nullopt;
  if (entry->element_type != ValueType::kString) {
    wrong_type(*entry, "an array of strings");
  }
  std::vector<std::string_view> values(entry->count);
  std::span<const std::byte> rest = entry->bytes;
  for (std::string_view& value : values) {
    const auto length = load<uint64_t>(rest.data());
    value = as_text(rest.subspan(sizeof(length), length));
    rest = rest.subspan(sizeof(length) + length);
  }
  return values;
}

std::optional<std::span<const std::byte>> File::find_bytes(
    std::string_view key) const {
  const Entry* entry = find_array(key, "an array of u8 or i8");
  if (entry == nullptr) return std::nullopt;
  if (entry->element_type != ValueType::kU8 &&
      entry->element_type != ValueType::kI8) {
    wrong_type(*entry, "an array of u8 or i8");
  }
  return entry->bytes;
}

int64_t File::get_int(std::string_view key) const {
  const auto value = find_int(key);
  if (!value) absent(key);
  return *value;
}

double File::get_float(std::string_view key) const {
  const auto value = find_float(key);
  if (!value) absent(key);
  return *value;
}

std::string_view File::get_string(std::string_view key) const {
  const auto value = find_string(key);
  if (!value) absent(key);
  return *value;
}

void File::read(const Tensor& tensor, uint64_t offset,
                std::span<std::byte> target) const {
  if (source_ == nullptr) {
    const auto bytes = memory_.subspan(tensor.offset + offset, target.size());
    std::copy(bytes.begin(), bytes.end(), target.begin());
  } else {
    source_->read(tensor.offset + offset, target,
                  cat("tensor ", quote(tensor.name)));
  }
}

std::vector<std::byte> File::read(const Tensor& tensor) const {
  std::vector<std::byte> bytes(tensor.bytes);
  read(tensor, 0, bytes);
  return bytes;
}

bool File::ends_with_checksum() const {
  uint64_t wanted = 0;
  if (size_ < sizeof wanted) return false;
  Checksum sum;
  const uint64_t end = size_ - sizeof wanted;
  const auto target = std::as_writable_bytes(std::span(&wanted, 1));
  if (source_ == nullptr) {
    sum.add(memory_.subspan(0, static_cast<size_t>(end)));
    const auto last = memory_.subspan(static_cast<size_t>(end));
    std::copy(last.begin(), last.end(), target.begin());
    return sum.value() == wanted;
  }
  std::vector<std::byte> buffer(kChecksumBuffer);
  for (uint64_t at = 0; at < end;) {
    const auto piece = std::span(buffer).first(
        static_cast<size_t>(std::min<uint64_t>(buffer.size(), end - at)));
    source_->read(at, piece, "the content");
    sum.add(piece);
    at += piece.size();
  }
  source_->read(end, target, "the checksum");
  return sum.value() == wanted;
}

void File::check_unchanged() const {
  if (source_ != nullptr) source_->check_unchanged();
}

}  // namespace rc::gguf
