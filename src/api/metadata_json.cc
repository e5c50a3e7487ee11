#include "api/metadata_json.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>

#include "base/error.h"
#include "base/json_value.h"

namespace rc::api {
namespace {

using gguf::ValueType;

// Walks the bytes of a value. The file was checked when it was opened; running
// out of bytes is a defect all the same better reported than read past.
class Writer {
 public:
  Writer(std::span<const std::byte> bytes, size_t max_elements)
      : bytes_(bytes), max_elements_(max_elements) {}

  void array(ValueType type, uint64_t count, bool write) {
    if (write) out_ += '[';
    for (uint64_t i = 0; i < count; ++i) {
      const bool wanted = write && (max_elements_ == 0 || i < max_elements_);
      if (wanted && i > 0) out_ += ',';
      value(type, wanted);
    }
    if (write) out_ += ']';
  }

  // Elements beyond the maximum are stepped over, for an array of arrays has
  // to be walked to its end.
  void value(ValueType type, bool write) {
    switch (type) {
      case ValueType::kU8:
        return integer<uint8_t>(write);
      case ValueType::kI8:
        return integer<int8_t>(write);
      case ValueType::kU16:
        return integer<uint16_t>(write);
      case ValueType::kI16:
        return integer<int16_t>(write);
      case ValueType::kU32:
        return integer<uint32_t>(write);
      case ValueType::kI32:
        return integer<int32_t>(write);
      case ValueType::kU64:
        return integer<uint64_t>(write);
      case ValueType::kI64:
        return integer<int64_t>(write);
      case ValueType::kF32:
        return real<float>(write);
      case ValueType::kF64:
        return real<double>(write);
      case ValueType::kBool: {
        const auto truth = read<uint8_t>();
        if (write) out_ += truth != 0 ? "true" : "false";
        return;
      }
      case ValueType::kString: {
        const auto length = read<uint64_t>();
        return string(take(length), write);
      }
      case ValueType::kArray: {
        const auto element = static_cast<ValueType>(read<uint32_t>());
        const auto count = read<uint64_t>();
        return array(element, count, write);
      }
    }
    fail(RC_E_INTERNAL, "a metadata value of type ",
         static_cast<uint32_t>(type), " passed the checks");
  }

  void string(std::span<const std::byte> text, bool write) {
    if (!write) return;
    out_ +=
        json_text({reinterpret_cast<const char*>(text.data()), text.size()});
  }

  std::string take_text() && { return std::move(out_); }

 private:
  std::span<const std::byte> take(uint64_t count) {
    if (count > bytes_.size()) {
      fail(RC_E_INTERNAL,
           "a metadata value is shorter than it was checked for");
    }
    const std::span<const std::byte> taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }

  template <class T>
  T read() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }

  template <class T>
  void number(T value) {
    char digits[40];
    const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
    out_.append(digits, end);
  }

  template <class T>
  void integer(bool write) {
    const T value = read<T>();
    if (write) number(value);
  }

  template <class T>
  void real(bool write) {
    const T value = read<T>();
    if (!write) return;
    if (std::isfinite(value)) {
      number(value);
    } else {
      out_ += "null";
    }
  }

  std::span<const std::byte> bytes_;
  size_t max_elements_;
  std::string out_;
};

}  // namespace

std::string type_text(const gguf::Entry& entry) {
  if (entry.type != ValueType::kArray) {
    return gguf::value_type_name(entry.type);
  }
  return cat("array of ", gguf::value_type_name(entry.element_type));
}

std::string value_json(const gguf::Entry& entry, size_t max_elements) {
  Writer writer(entry.bytes, max_elements);
  if (entry.type == ValueType::kArray) {
    // The elements after the last one wanted need no look.
    uint64_t count = entry.count;
    if (max_elements != 0 && count > max_elements) count = max_elements;
    writer.array(entry.element_type, count, true);
  } else if (entry.type == ValueType::kString) {
    writer.string(entry.bytes, true);  // its length is not among its bytes
  } else {
    writer.value(entry.type, true);
  }
  return std::move(writer).take_text();
}

}  // namespace rc::api
