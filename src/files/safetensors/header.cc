#include "files/safetensors/header.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/checked.h"
#include "base/error.h"
#include "base/quote.h"

namespace rc::safetensors {
namespace {

using Json = nlohmann::json;

constexpr Type kTypes[] = {
    {"F4", 4},      {"F6_E2M3", 6},     {"F6_E3M2", 6},     {"BOOL", 8},
    {"U8", 8},      {"I8", 8},          {"F8_E5M2", 8},     {"F8_E4M3", 8},
    {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},
    {"U16", 16},    {"F16", 16},        {"BF16", 16},       {"I32", 32},
    {"U32", 32},    {"F32", 32},        {"F64", 64},        {"I64", 64},
    {"U64", 64},    {"C64", 64},
};

constexpr std::string_view kMetadata = "__metadata__";

// Takes the tensors from the header as the parser reports it, so that nothing
// but them is ever in memory. The parser does not recurse.
class HeaderReader : public nlohmann::json_sax<Json> {
 public:
  explicit HeaderReader(const std::string& file) : file_(file) {}

  std::vector<Tensor> take() { return std::move(tensors_); }

  bool null() override { return misplaced("null"); }
  bool boolean(bool) override { return misplaced("a boolean"); }
  bool number_integer(number_integer_t) override {
    return misplaced("a negative number");
  }
  bool number_float(number_float_t, const string_t&) override {
    return misplaced("a fraction, or a number beyond 2^64");
  }
  bool binary(binary_t&) override { return misplaced("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (place_ == Place::kShape) {
      if (tensor_.shape.size() == kMaxRank) {
        refuse("it has more than ", kMaxRank, " dimensions");
      }
      if (value > INT64_MAX)
        refuse("a dimension of ", value, " exceeds 2^63-1");
      tensor_.shape.push_back(static_cast<int64_t>(value));
    } else if (place_ == Place::kOffsets) {
      if (offsets_.size() == 2) refuse("it has more than two data_offsets");
      offsets_.push_back(value);
    } else {
      return misplaced("a number");
    }
    return true;
  }

  bool string(string_t& value) override {
    if (place_ == Place::kMetadata) return true;
    if (place_ != Place::kTensor || key_ != "dtype") {
      return misplaced("a string");
    }
    const auto* type =
        std::ranges::find(kTypes, std::string_view(value), &Type::name);
    if (type == std::end(kTypes)) {
      fail(RC_E_UNSUPPORTED, file_, ": tensor ", quote(tensor_.name), ": type ",
           quote(value), " is not known");
    }
    tensor_.type = type;
    return true;
  }

  bool start_object(size_t) override {
    if (place_ == Place::kOutside) {  // once: a second one is no JSON
      place_ = Place::kTop;
    } else if (place_ == Place::kTop) {
      place_ = name_ == kMetadata ? Place::kMetadata : Place::kTensor;
      tensor_ = {
          .name = name_, .type = nullptr, .shape = {}, .bytes = 0, .offset = 0};
      offsets_.clear();
      has_shape_ = has_offsets_ = false;
    } else {
      return misplaced("an object");
    }
    return true;
  }

  bool key(string_t& key) override {
    if (place_ == Place::kTop) {
      begin_member(key);
    } else if (place_ == Place::kTensor) {
      const bool again = (key == "dtype" && tensor_.type != nullptr) ||
                         (key == "shape" && has_shape_) ||
                         (key == "data_offsets" && has_offsets_);
      if (again) refuse("it has two ", key);
      if (key != "dtype" && key != "shape" && key != "data_offsets") {
        refuse("it has a member ", quote(key),
               "; dtype, shape and data_offsets are possible");
      }
      key_ = key;
    }
    return true;
  }

  bool end_object() override {
    if (place_ == Place::kTensor) {
      end_tensor();
    }
    place_ = place_ == Place::kTop ? Place::kOutside : Place::kTop;
    return true;
  }

  bool start_array(size_t) override {
    if (place_ == Place::kTensor && key_ == "shape") {
      place_ = Place::kShape;
      has_shape_ = true;
    } else if (place_ == Place::kTensor && key_ == "data_offsets") {
      place_ = Place::kOffsets;
      has_offsets_ = true;
    } else {
      return misplaced("an array");
    }
    return true;
  }

  bool end_array() override {
    place_ = Place::kTensor;
    return true;
  }

  bool parse_error(size_t at, const std::string& token,
                   const Json::exception& /*error*/) override {
    fail(RC_E_FORMAT, file_, ": the header is no JSON at byte ", at, ", at ",
         quote(token));
  }

 private:
  enum class Place {
    kOutside,
    kTop,
    kMetadata,
    kTensor,
    kShape,
    kOffsets,
  };

  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail(RC_E_FORMAT, file_, ": tensor ", quote(name_), ": ", parts...);
  }

  bool misplaced(const char* what) const {
    fail(RC_E_FORMAT, file_, ": the header has ", what, " ",
         name_.empty() ? "" : cat("within ", quote(name_), " "),
         "where none can be");
  }

  void begin_member(std::string& name) {
    name_ = std::move(name);
    if (name_.empty()) {
      fail(RC_E_FORMAT, file_, ": the name of a tensor is empty");
    }
    if (name_.size() > kMaxNameBytes) {
      refuse("its name has ", name_.size(), " bytes; at most ", kMaxNameBytes,
             " are possible");
    }
    if (name_.find('\0') != std::string::npos) {
      refuse("its name contains a zero byte");
    }
  }

  void end_tensor() {
    if (tensor_.type == nullptr) refuse("it has no dtype");
    if (!has_shape_) refuse("it has no shape");
    if (offsets_.size() != 2) refuse("it does not have two data_offsets");
    std::optional<uint64_t> size = tensor_.type->bits;
    for (const int64_t dimension : tensor_.shape) {
      size = checked_mul(*size, static_cast<uint64_t>(dimension));
      if (!size) refuse("its size exceeds 2^64 bits");
    }
    if (*size % 8 != 0) refuse("its ", *size, " bits are no whole bytes");
    tensor_.bytes = *size / 8;
    tensor_.offset = offsets_[0];
    if (offsets_[1] < offsets_[0] ||
        offsets_[1] - offsets_[0] != tensor_.bytes) {
      refuse("its data_offsets ", offsets_[0], " to ", offsets_[1],
             " do not hold the ", tensor_.bytes, " bytes of its shape");
    }
    if (tensors_.size() == kMaxTensors) {
      fail(RC_E_FORMAT, file_, ": it has more than ", kMaxTensors, " tensors");
    }
    tensors_.push_back(std::move(tensor_));
  }

  const std::string& file_;
  Place place_ = Place::kOutside;
  std::string name_;  // of the member of the top that is being read
  std::string key_;   // of a tensor
  Tensor tensor_ = {};
  std::vector<uint64_t> offsets_;
  bool has_shape_ = false;
  bool has_offsets_ = false;
  std::vector<Tensor> tensors_;
};

void check_places(const std::vector<Tensor>& tensors, uint64_t data_bytes,
                  const std::string& file) {
  std::vector<const Tensor*> order;
  order.reserve(tensors.size());
  for (const Tensor& tensor : tensors) order.push_back(&tensor);
  // Those without elements come before what begins where they are.
  std::sort(order.begin(), order.end(), [](const Tensor* a, const Tensor* b) {
    return std::pair(a->offset, a->bytes) < std::pair(b->offset, b->bytes);
  });
  uint64_t end = 0;
  const Tensor* before = nullptr;
  for (const Tensor* tensor : order) {
    if (tensor->offset > data_bytes ||
        tensor->bytes > data_bytes - tensor->offset) {
      fail(RC_E_FORMAT, file, ": tensor ", quote(tensor->name), ": its ",
           tensor->bytes, " bytes at offset ", tensor->offset,
           " reach beyond the file's ", data_bytes,
           " bytes of data; the file is truncated or damaged");
    }
    if (tensor->offset < end) {
      fail(RC_E_FORMAT, file, ": tensors ", quote(before->name), " and ",
           quote(tensor->name), " overlap at offset ", tensor->offset);
    }
    if (tensor->offset > end) {
      fail(RC_E_FORMAT, file, ": nothing says what the bytes at offset ", end,
           " are, before tensor ", quote(tensor->name));
    }
    end = tensor->offset + tensor->bytes;
    before = tensor;
  }
  if (end != data_bytes) {
    fail(RC_E_FORMAT, file, ": nothing says what the ", data_bytes - end,
         " bytes behind the last tensor are");
  }
}

}  // namespace

const Type* find_type(std::string_view name) {
  const Type* type = std::ranges::find(kTypes, name, &Type::name);
  return type == std::end(kTypes) ? nullptr : type;
}

std::vector<Tensor> parse_header(std::string_view json, uint64_t data_bytes,
                                 const std::string& file) {
  HeaderReader reader(file);
  Json::sax_parse(json, &reader);
  std::vector<Tensor> tensors = reader.take();
  std::sort(tensors.begin(), tensors.end(),
            [](const Tensor& a, const Tensor& b) { return a.name < b.name; });
  const auto twice = std::adjacent_find(
      tensors.begin(), tensors.end(),
      [](const Tensor& a, const Tensor& b) { return a.name == b.name; });
  if (twice != tensors.end()) {
    fail(RC_E_FORMAT, file, ": tensor ", quote(twice->name), " occurs twice");
  }
  check_places(tensors, data_bytes, file);
  return tensors;
}

}  // namespace rc::safetensors
