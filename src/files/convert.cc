#include "files/convert.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/quote.h"
#include "files/ggml_vocabulary.h"
#include "files/gguf/writer.h"

namespace rc {
namespace {

// What is read, encoded and written at once.
constexpr int64_t kChunkElements = int64_t{1} << 18;
constexpr uint64_t kChunkBytes = uint64_t{1} << 20;
constexpr float kF16Largest = 65504.0f;

// The types, and what general.file_type calls a file whose matrices are of it.
struct Target {
  DType dtype;
  uint32_t file_type;
};
constexpr Target kTargets[] = {
    {RC_DTYPE_F32, 0},   {RC_DTYPE_F16, 1},   {RC_DTYPE_BF16, 32},
    {RC_DTYPE_Q8_0, 7},  {RC_DTYPE_Q6_K, 18}, {RC_DTYPE_Q5_K, 16},
    {RC_DTYPE_Q5_1, 9},  {RC_DTYPE_Q5_0, 8},  {RC_DTYPE_Q4_K, 14},
    {RC_DTYPE_Q4_1, 3},  {RC_DTYPE_Q4_0, 2},  {RC_DTYPE_IQ4_NL, 25},
    {RC_DTYPE_TQ2_0, 37}};

// Metadata that a new type changes.
constexpr std::string_view kFileType = "general.file_type";
constexpr std::string_view kQuantization = "general.quantization_version";
constexpr std::string_view kAlignment = "general.alignment";
constexpr uint32_t kQuantizationVersion = 2;

bool is_plain_float(DType dtype) {
  return dtype == RC_DTYPE_F32 || dtype == RC_DTYPE_F16 ||
         dtype == RC_DTYPE_BF16 || dtype == RC_DTYPE_F64;
}

// Whether a matrix is more than a product: small, and of much effect.
bool is_delicate(std::string_view name) {
  if (name.ends_with("ssm_in.weight") || name.ends_with("ssm_out.weight")) {
    return false;
  }
  constexpr std::string_view kParts[] = {
      "ffn_gate_inp", "ssm_", "position_embd", "token_types", "norm"};
  return !name.ends_with(".weight") ||
         std::ranges::any_of(kParts, [&](std::string_view part) {
           return name.find(part) != name.npos;
         });
}

bool is_quantized(DType dtype) { return dtype_info(dtype)->block_size > 1; }

DType type_after(const gguf::Tensor& tensor, DType wanted) {
  if (!is_plain_float(tensor.dtype) || tensor.shape.size() < 2 ||
      is_delicate(tensor.name) || !row_bytes(wanted, tensor.shape.back())) {
    return tensor.dtype;
  }
  return wanted;
}

class Conversion {
 public:
  Conversion(const gguf::File& file, std::optional<DType> type,
             const ConvertProgress& progress)
      : file_(file), type_(type), progress_(progress) {
    for (const gguf::Tensor& tensor : file.tensors()) total_ += tensor.bytes;
  }

  void write(const std::string& path) {
    gguf::Writer writer(static_cast<uint32_t>(
        std::max(file_.alignment(), gguf::kDefaultAlignment)));
    for (const gguf::Entry& entry : file_.entries()) {
      const bool changes =
          type_ && (entry.key == kFileType || entry.key == kQuantization);
      if (!changes && entry.key != kAlignment) writer.add(entry);
    }
    add_ggml_vocabulary(file_, writer);
    if (type_) {
      const auto* target = std::ranges::find(kTargets, *type_, &Target::dtype);
      writer.add(kFileType, target->file_type);
      if (std::ranges::any_of(file_.tensors(), [&](const auto& tensor) {
            return is_quantized(type_after(tensor, *type_));
          })) {
        writer.add(kQuantization, kQuantizationVersion);
      }
    }
    for (const gguf::Tensor& tensor : file_.tensors()) {
      const DType dtype = type_ ? type_after(tensor, *type_) : tensor.dtype;
      writer.add_tensor(tensor.name, dtype, tensor.shape,
                        [this, &tensor, dtype](const gguf::Writer::Put& put) {
                          dtype == tensor.dtype ? copy(tensor, put)
                                                : encode(tensor, dtype, put);
                          // A mixture of before and after would be no model.
                          if (&tensor == &file_.tensors().back())
                            file_.check_unchanged();
                        });
    }
    report();
    writer.write_file(path);
  }

 private:
  void report() const {
    const double fraction =
        total_ == 0 ? 1.0
                    : static_cast<double>(done_) / static_cast<double>(total_);
    if (progress_ && !progress_(fraction)) {
      fail(RC_E_CANCELLED, file_.name(), ": converting was cancelled");
    }
  }

  void read(const gguf::Tensor& tensor, uint64_t offset, uint64_t bytes) {
    bytes_.resize(bytes);
    file_.read(tensor, offset, bytes_);
  }
  void advance() {
    done_ += bytes_.size();
    report();
  }

  void copy(const gguf::Tensor& tensor, const gguf::Writer::Put& put) {
    for (uint64_t offset = 0; offset < tensor.bytes; offset += kChunkBytes) {
      read(tensor, offset, std::min(kChunkBytes, tensor.bytes - offset));
      put(bytes_);
      advance();
    }
  }

  // Rows are whole blocks, so a tensor is encoded like one long row.
  void encode(const gguf::Tensor& tensor, DType dtype,
              const gguf::Writer::Put& put) {
    const auto size =
        static_cast<uint64_t>(dtype_info(tensor.dtype)->block_bytes);
    const auto count = static_cast<int64_t>(tensor.bytes / size);
    for (int64_t first = 0; first < count; first += kChunkElements) {
      const int64_t elements = std::min(kChunkElements, count - first);
      read(tensor, static_cast<uint64_t>(first) * size,
           static_cast<uint64_t>(elements) * size);
      values_.resize(static_cast<size_t>(elements));
      decode_row(tensor.dtype, bytes_.data(), values_.data(), elements);
      if (dtype == RC_DTYPE_F16) check_f16(tensor);
      encoded_.resize(*row_bytes(dtype, elements));
      encode_row(dtype, values_.data(), encoded_.data(), elements);
      put(encoded_);
      advance();
    }
  }

  void check_f16(const gguf::Tensor& tensor) const {
    for (const float value : values_) {
      if (std::abs(value) <= kF16Largest) continue;
      fail(RC_E_UNSUPPORTED, file_.name(), ": tensor ", quote(tensor.name),
           " holds ", value, ", which F16 cannot; convert to BF16 or F32");
    }
  }

  const gguf::File& file_;
  const std::optional<DType> type_;
  const ConvertProgress& progress_;
  std::vector<std::byte> bytes_;
  std::vector<float> values_;
  std::vector<std::byte> encoded_;
  uint64_t done_ = 0;
  uint64_t total_ = 0;
};

}  // namespace

DType conversion_type(std::string_view name) {
  const auto same = [](char a, char b) {
    return (b >= 'a' && b <= 'z' ? static_cast<char>(b - 'a' + 'A') : b) == a;
  };
  std::string known;
  for (const Target& target : kTargets) {
    const std::string_view own = dtype_info(target.dtype)->name;
    if (std::ranges::equal(own, name, same)) return target.dtype;
    known.append(known.empty() ? "" : ", ").append(own);
  }
  fail(RC_E_INVALID_ARGUMENT, "type ", quote(name),
       " cannot be converted to; there are ", known);
}

void convert_model(const gguf::File& file, const std::string& path,
                   std::optional<DType> type, const ConvertProgress& progress) {
  Conversion(file, type, progress).write(path);
}

}  // namespace rc
