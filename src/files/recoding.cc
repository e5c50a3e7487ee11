#include "files/recoding.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/quote.h"
#include "files/quantize/encoder.h"
#include "files/quantize/mixes.h"

namespace rc {
namespace {

// Metadata that a new type changes.
constexpr std::string_view kFileType = "general.file_type";
constexpr std::string_view kQuantization = "general.quantization_version";
constexpr std::string_view kAlignment = "general.alignment";
constexpr std::string_view kImportance = "quantize.imatrix.";
constexpr uint32_t kQuantizationVersion = 2;

// The weights of `count` elements of a tensor from `begin` on.
void expand_importance(const gguf::Tensor& tensor, int64_t begin, int64_t count,
                       std::span<const float> importance,
                       std::vector<float>& weights) {
  const int64_t columns = tensor.shape.back();
  const int64_t matrix = columns * tensor.shape[tensor.shape.size() - 2];
  const bool shared = static_cast<int64_t>(importance.size()) == columns;
  weights.resize(static_cast<size_t>(count));
  for (int64_t i = 0; i < count;) {
    const int64_t column = (begin + i) % columns;
    const int64_t row = shared ? 0 : (begin + i) / matrix * columns;
    const int64_t length = std::min(columns - column, count - i);
    std::copy_n(importance.data() + row + column, length, weights.data() + i);
    i += length;
  }
}

}  // namespace

Recoding::Recoding(const gguf::File& file, const Conversion& conversion)
    : file_(file),
      type_(conversion.type),
      changes_(!conversion.type.empty() || !conversion.tensors.empty()) {
  for (const gguf::Tensor& tensor : file.tensors()) {
    types_.push_back(tensor.dtype);
  }
  if (!conversion.importance.empty()) {
    importance_ = importance::read(conversion.importance);
    weights_.emplace(importance_, file);
  }
  if (!type_.empty()) {
    types_ =
        quantize::planned_types(file, quantize::find_mix(type_),
                                conversion.requantizes, weights_.has_value());
  }
  quantize::apply_overrides(file, conversion.tensors, types_);
  for (size_t i = 0; i < types_.size(); ++i) {
    const gguf::Tensor& tensor = file.tensors()[i];
    if (types_[i] == tensor.dtype ||
        !quantize::needs_importance(tensor.name, types_[i]) ||
        (weights_ && !weights_->of(tensor.name).empty())) {
      continue;
    }
    fail(RC_E_INVALID_ARGUMENT, file.name(), ": tensor ", quote(tensor.name),
         " can become ", dtype_name(types_[i]),
         " only with an importance, which ",
         weights_ ? cat("is not in ", importance_.file)
                  : std::string("says which of its columns matter"),
         ": quantize into a file with one, or to a type of more bits");
  }
}

void Recoding::add_metadata(gguf::Writer& writer) const {
  const bool is_quantized = std::ranges::any_of(
      types_, [](DType dtype) { return dtype_info(dtype)->block_size > 1; });
  for (const gguf::Entry& entry : file_.entries()) {
    const bool own = (entry.key == kFileType && !type_.empty()) ||
                     (changes_ && (entry.key == kQuantization ||
                                   entry.key.starts_with(kImportance)));
    if (!own && entry.key != kAlignment) writer.add(entry);
  }
  if (!type_.empty()) {
    writer.add(kFileType, quantize::file_type(quantize::find_mix(type_)));
  }
  if (changes_ && is_quantized) {
    writer.add(kQuantization, kQuantizationVersion);
  }
  if (!weights_ || !changes_) return;
  writer.add("quantize.imatrix.file", std::string_view(importance_.file));
  if (!importance_.dataset.empty()) {
    writer.add("quantize.imatrix.dataset",
               std::string_view(importance_.dataset));
  }
  writer.add("quantize.imatrix.entries_count",
             static_cast<uint32_t>(importance_.values.size()));
  if (importance_.chunks > 0) {
    writer.add("quantize.imatrix.chunks_count",
               static_cast<uint32_t>(importance_.chunks));
  }
}

void Recoding::encode(size_t i, int64_t begin, int64_t count, Scratch& scratch,
                      std::vector<std::byte>& target) const {
  const gguf::Tensor& tensor = file_.tensors()[i];
  const DType dtype = types_[i];
  const uint64_t offset = *row_bytes(tensor.dtype, begin);
  scratch.values.resize(static_cast<size_t>(count));
  if (tensor.dtype == RC_DTYPE_F32) {
    file_.read(tensor, offset,
               std::as_writable_bytes(std::span(scratch.values)));
  } else {
    scratch.bytes.resize(*row_bytes(tensor.dtype, count));
    file_.read(tensor, offset, scratch.bytes);
    decode_row(tensor.dtype, scratch.bytes.data(), scratch.values.data(),
               count);
  }
  check(tensor, dtype, scratch.values);
  const float* weights = nullptr;
  const std::span<const float> importance =
      weights_ ? weights_->of(tensor.name) : std::span<const float>();
  if (!importance.empty()) {
    expand_importance(tensor, begin, count, importance, scratch.weights);
    weights = scratch.weights.data();
  }
  target.resize(*row_bytes(dtype, count));
  quantize::find_encoder(dtype)(scratch.values.data(), weights, count,
                                reinterpret_cast<uint8_t*>(target.data()));
}

void Recoding::check(const gguf::Tensor& tensor, DType dtype,
                     std::span<const float> values) const {
  const float largest = quantize::largest_element(dtype);
  if (std::isinf(largest)) return;
  if (quantize::are_within(values.data(), std::ssize(values), largest)) return;
  for (const float value : values) {
    if (std::abs(value) <= largest) continue;
    fail(RC_E_UNSUPPORTED, file_.name(), ": tensor ", quote(tensor.name),
         " holds ", value, ", which ", dtype_name(dtype),
         " cannot; convert to BF16 or F32");
  }
}

}  // namespace rc
