#include "files/gguf/parser.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/checked.h"
#include "base/error.h"
#include "base/quote.h"

namespace rc::gguf {
namespace {

constexpr std::string_view kMagic = "GGUF";
// The least that the file holds for each: a key of one byte with a value of
// one byte; a name of one byte with one dimension; an empty string; an empty
// array.
constexpr uint64_t kLeastEntryBytes = 8 + 1 + 4 + 1;
constexpr uint64_t kLeastTensorBytes = 8 + 1 + 4 + 8 + 4 + 8;
constexpr uint64_t kLeastStringBytes = 8;
constexpr uint64_t kLeastArrayBytes = 4 + 8;

// Indices of items in the order of their names.
template <class Item, class Name>
std::vector<uint32_t> order_by(const std::vector<Item>& items, Name name) {
  std::vector<uint32_t> order(items.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return items[a].*name < items[b].*name;
  });
  return order;
}

// The first name that occurs twice in the order, or nullptr.
template <class Item, class Name>
const std::string_view* find_duplicate(const std::vector<Item>& items,
                                       const std::vector<uint32_t>& order,
                                       Name name) {
  for (size_t i = 1; i < order.size(); ++i) {
    if (items[order[i - 1]].*name == items[order[i]].*name) {
      return &(items[order[i]].*name);
    }
  }
  return nullptr;
}

}  // namespace

Parser::Parser(std::span<const std::byte> bytes, uint64_t size,
               std::string name)
    : bytes_(bytes), file_(new File) {
  file_->name_ = std::move(name);
  file_->size_ = size;
}

template <class... Parts>
void Parser::refuse(const Parts&... parts) const {
  fail(RC_E_FORMAT, file_->name_, ": ", context_, context_.empty() ? "" : ": ",
       parts...);
}

std::span<const std::byte> Parser::take(uint64_t count, const char* what) {
  if (count > remaining()) {
    refuse("the file ends within ", what, ": ", count,
           " bytes expected at byte ", position_, ", ", remaining(),
           " are left; the file is truncated or damaged");
  }
  if (count > bytes_.size() - position_) {
    if (count > kMaxHeaderBytes - position_) {
      refuse(what, " reaches to byte ", position_ + count,
             "; metadata of at most ", kMaxHeaderBytes, " bytes are possible");
    }
    throw NeedsMore{position_ + count};
  }
  const auto result = bytes_.subspan(position_, count);
  position_ += count;
  return result;
}

template <class T>
T Parser::read(const char* what) {
  T value;
  std::memcpy(&value, take(sizeof(T), what).data(), sizeof(T));
  return value;
}

std::string_view Parser::read_string(const char* what) {
  const auto length = read<uint64_t>(what);
  const auto text = take(length, what);
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

void Parser::refuse_zero_byte(const char* what, std::string_view text) const {
  if (text.find('\0') == std::string_view::npos) return;
  refuse("the ", what, " contains a zero byte");
}

std::shared_ptr<const File> Parser::parse(
    std::shared_ptr<const void> owner, std::shared_ptr<const Source> source) {
  file_->owner_ = std::move(owner);
  if (source == nullptr) file_->memory_ = bytes_;
  file_->source_ = std::move(source);
  read_header();
  read_entries();
  read_alignment();
  read_tensor_infos();
  file_->header_bytes_ = position_;
  place_tensors();
  return std::move(file_);
}

void Parser::read_header() {
  const auto magic = take(std::min<uint64_t>(4, remaining()), "the magic");
  const std::string_view text(reinterpret_cast<const char*>(magic.data()),
                              magic.size());
  if (text != kMagic) {
    refuse("not a GGUF file: it begins with ", quote(text),
           " where a GGUF file has 'GGUF'");
  }
  const auto version = read<uint32_t>("the header");
  // A version in the upper half is one written in the other byte order.
  if ((version & 0xFFFF) == 0 && version != 0) {
    refuse("the file is big-endian; convert the model to little-endian");
  }
  if (version < 2 || version > 3) {
    refuse("GGUF version ", version,
           " is not supported, only 2 and 3; convert the model again");
  }
  file_->version_ = version;
  tensor_count_ = read<uint64_t>("the header");
  entry_count_ = read<uint64_t>("the header");
  const uint64_t tensor_limit =
      std::min(kMaxTensors, remaining() / kLeastTensorBytes);
  if (tensor_count_ > tensor_limit) {
    refuse("the header announces ", tensor_count_, " tensors; at most ",
           tensor_limit, " are possible in a file of ", file_->size_, " bytes");
  }
  const uint64_t entry_limit =
      std::min(kMaxEntries, remaining() / kLeastEntryBytes);
  if (entry_count_ > entry_limit) {
    refuse("the header announces ", entry_count_, " metadata entries; at most ",
           entry_limit, " are possible in a file of ", file_->size_, " bytes");
  }
}

void Parser::read_entries() {
  auto& entries = file_->entries_;
  entries.reserve(entry_count_);
  for (uint64_t i = 0; i < entry_count_; ++i) {
    context_ = cat("metadata entry ", i);
    Entry entry{};
    entry.key = read_string("its key");
    if (entry.key.empty()) refuse("its key is empty");
    if (entry.key.size() > kMaxKeyBytes) {
      refuse("its key has ", entry.key.size(), " bytes; at most ", kMaxKeyBytes,
             " are allowed");
    }
    context_ = cat("key ", quote(entry.key));
    if (!is_utf8(entry.key)) refuse("the key is not valid UTF-8");
    refuse_zero_byte("key", entry.key);
    read_value(&entry);
    entries.push_back(entry);
  }
  context_.clear();
  file_->entry_order_ = order_by(entries, &Entry::key);
  const auto* key = find_duplicate(entries, file_->entry_order_, &Entry::key);
  if (key != nullptr) refuse("key ", quote(*key), " occurs twice");
}

ValueType Parser::read_value_type() {
  const auto type = static_cast<ValueType>(read<uint32_t>("the type"));
  if (type > ValueType::kF64) {
    refuse("value type ", static_cast<uint32_t>(type),
           " is unknown; types are 0 to 12");
  }
  return type;
}

void Parser::read_value(Entry* entry) {
  entry->type = entry->element_type = read_value_type();
  entry->count = 1;
  switch (entry->type) {
    case ValueType::kString: {
      const auto text = read_string("the value");
      entry->bytes = std::as_bytes(std::span(text));
      break;
    }
    case ValueType::kArray:
      entry->count = skip_array(&entry->element_type, 1, &entry->bytes);
      break;
    default:
      entry->bytes = take(value_bytes(entry->type), "the value");
  }
}

uint64_t Parser::skip_array(ValueType* element_type, int depth,
                            std::span<const std::byte>* elements) {
  if (depth > kMaxArrayDepth) {
    refuse("arrays are nested deeper than ", kMaxArrayDepth);
  }
  const ValueType type = *element_type = read_value_type();
  const auto count = read<uint64_t>("the length of an array");
  const uint64_t start = position_;
  const uint64_t least = type == ValueType::kString  ? kLeastStringBytes
                         : type == ValueType::kArray ? kLeastArrayBytes
                                                     : value_bytes(type);
  if (count > remaining() / least) {
    refuse("an array of ", count, " elements of type ", value_type_name(type),
           " does not fit into the ", remaining(),
           " bytes that are left; the file is truncated or damaged");
  }
  if (type == ValueType::kString) {
    for (uint64_t i = 0; i < count; ++i) read_string("a string of an array");
  } else if (type == ValueType::kArray) {
    ValueType inner_type;
    std::span<const std::byte> inner;
    for (uint64_t i = 0; i < count; ++i) {
      skip_array(&inner_type, depth + 1, &inner);
    }
  } else {
    take(count * value_bytes(type), "an array");
  }
  *elements = bytes_.subspan(start, position_ - start);
  return count;
}

void Parser::read_alignment() {
  const Entry* entry = file_->find("general.alignment");
  if (entry == nullptr) return;
  context_ = "key 'general.alignment'";
  if (entry->type != ValueType::kU32) {
    refuse("it has type ", value_type_name(entry->type), ", not u32");
  }
  uint32_t alignment;
  std::memcpy(&alignment, entry->bytes.data(), sizeof(alignment));
  if (!std::has_single_bit(alignment)) {
    refuse(alignment, " is not a power of two");
  }
  file_->alignment_ = alignment;
  context_.clear();
}

void Parser::read_tensor_infos() {
  auto& tensors = file_->tensors_;
  tensors.reserve(tensor_count_);
  for (uint64_t i = 0; i < tensor_count_; ++i) {
    context_ = cat("tensor ", i);
    Tensor tensor{};
    tensor.name = read_string("its name");
    if (tensor.name.empty()) refuse("its name is empty");
    if (tensor.name.size() > kMaxTensorNameBytes) {
      refuse("its name ", quote(tensor.name), " has ", tensor.name.size(),
             " bytes; at most ", kMaxTensorNameBytes, " are allowed");
    }
    context_ = cat("tensor ", quote(tensor.name));
    if (!is_utf8(tensor.name)) refuse("the name is not valid UTF-8");
    refuse_zero_byte("name", tensor.name);
    const uint64_t rows = read_shape(&tensor);
    tensor.dtype = read<DType>("its type");
    const DTypeInfo* info = dtype_info(tensor.dtype);
    if (info == nullptr) {
      refuse("it has type ", tensor.dtype,
             ", which GGUF does not define or has removed; convert the model "
             "again");
    }
    const int64_t columns = tensor.shape.back();
    if (columns % info->block_size != 0) {
      refuse("its rows of ", columns, " elements are no multiple of the ",
             info->block_size, " that a block of ", info->name, " holds");
    }
    const auto row = row_bytes(tensor.dtype, columns);
    const uint64_t size =
        row ? checked_mul(*row, rows).value_or(UINT64_MAX) : UINT64_MAX;
    tensor.offset = read<uint64_t>("its offset");
    // Offsets are checked in place_tensors, when the place of the data is
    // known.
    if (size > file_->size_) {
      refuse("it has ", columns, " x ", rows, " elements of type ", info->name,
             ", more than a file of ", file_->size_, " bytes holds");
    }
    tensor.bytes = size;
    tensors.push_back(std::move(tensor));
  }
  context_.clear();
  file_->tensor_order_ = order_by(tensors, &Tensor::name);
  const auto* name =
      find_duplicate(tensors, file_->tensor_order_, &Tensor::name);
  if (name != nullptr) refuse("tensor ", quote(*name), " occurs twice");
}

// Returns the number of rows.
uint64_t Parser::read_shape(Tensor* tensor) {
  const auto rank = read<uint32_t>("its number of dimensions");
  if (rank < 1 || rank > kMaxRank) {
    refuse("it has ", rank, " dimensions; 1 to ", kMaxRank, " are possible");
  }
  tensor->shape.resize(rank);
  std::optional<int64_t> elements = 1;
  for (uint32_t i = 0; i < rank; ++i) {
    const auto size = read<int64_t>("its dimensions");
    if (size <= 0) {
      refuse("dimension ", i, " is ", static_cast<uint64_t>(size),
             "; 1 to 2^63-1 are possible");
    }
    tensor->shape[rank - 1 - i] = size;
    if (elements) elements = checked_mul(*elements, size);
  }
  if (!elements) refuse("its number of elements exceeds 2^63-1");
  return static_cast<uint64_t>(*elements / tensor->shape.back());
}

void Parser::place_tensors() {
  if (file_->tensors_.empty()) return;
  const auto start = checked_align(position_, file_->alignment_);
  if (!start || *start > file_->size_) {
    refuse("the file ends at byte ", file_->size_,
           ", before the data of its tensors; the file is truncated");
  }
  for (Tensor& tensor : file_->tensors_) {
    context_ = cat("tensor ", quote(tensor.name));
    if (tensor.offset % file_->alignment_ != 0) {
      refuse("its offset ", tensor.offset, " is no multiple of the alignment ",
             file_->alignment_);
    }
    const uint64_t space = file_->size_ - *start;
    if (tensor.offset > space || tensor.bytes > space - tensor.offset) {
      refuse("its ", tensor.bytes, " bytes at offset ", tensor.offset,
             " reach beyond the end of the file's ", space,
             " bytes of tensor data; the file is truncated or damaged");
    }
    tensor.offset += *start;
  }
  context_.clear();
  refuse_overlaps();
}

void Parser::refuse_overlaps() const {
  std::vector<const Tensor*> order;
  order.reserve(file_->tensors_.size());
  for (const Tensor& tensor : file_->tensors_) order.push_back(&tensor);
  std::sort(order.begin(), order.end(), [](const Tensor* a, const Tensor* b) {
    return a->offset < b->offset;
  });
  for (size_t i = 1; i < order.size(); ++i) {
    const Tensor& before = *order[i - 1];
    if (before.offset + before.bytes > order[i]->offset) {
      refuse("tensors ", quote(before.name), " and ", quote(order[i]->name),
             " overlap at byte ", order[i]->offset);
    }
  }
}

}  // namespace rc::gguf
