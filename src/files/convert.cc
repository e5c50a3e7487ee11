#include "files/convert.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/quote.h"
#include "files/ggml/vocabulary.h"
#include "files/gguf/writer.h"
#include "files/importance/read.h"
#include "files/quantize/crew.h"
#include "files/quantize/encoder.h"
#include "files/quantize/mixes.h"
#include "files/quantize/weights.h"

namespace rc {
namespace {

// What one thread reads and encodes at once, a multiple of all block sizes, and
// how many such pieces a thread has before they are written.
constexpr int64_t kPieceElements = int64_t{1} << 16;
constexpr size_t kPiecesPerThread = 4;
constexpr uint64_t kChunkBytes = uint64_t{1} << 20;

// Metadata that a new type changes.
constexpr std::string_view kFileType = "general.file_type";
constexpr std::string_view kQuantization = "general.quantization_version";
constexpr std::string_view kAlignment = "general.alignment";
constexpr std::string_view kImportance = "quantize.imatrix.";
constexpr uint32_t kQuantizationVersion = 2;

class Work {
 public:
  Work(const gguf::File& file, const Conversion& conversion)
      : file_(file), conversion_(conversion), crew_(conversion.threads) {
    for (const gguf::Tensor& tensor : file.tensors()) {
      total_ += tensor.bytes;
      types_.push_back(tensor.dtype);
    }
    if (!conversion.importance.empty()) {
      importance_ = importance::read(conversion.importance);
      weights_.emplace(importance_, file);
    }
    if (!conversion.type.empty()) {
      types_ =
          quantize::planned_types(file, quantize::find_mix(conversion.type),
                                  conversion.requantizes, weights_.has_value());
    }
    quantize::apply_overrides(file, conversion.tensors, types_);
    scratch_.resize(crew_.size());
    pieces_.resize(kPiecesPerThread * crew_.size());
  }

  void write(const std::string& path) {
    gguf::Writer writer(static_cast<uint32_t>(
        std::max(file_.alignment(), gguf::kDefaultAlignment)));
    add_metadata(writer);
    add_ggml_vocabulary(file_, writer);
    const auto tensors = file_.tensors();
    for (size_t i = 0; i < tensors.size(); ++i) {
      const gguf::Tensor& tensor = tensors[i];
      const DType dtype = types_[i];
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
  // Of one thread.
  struct Scratch {
    std::vector<std::byte> bytes;
    std::vector<float> values, weights;
  };

  bool changes() const {
    return !conversion_.type.empty() || !conversion_.tensors.empty();
  }

  void add_metadata(gguf::Writer& writer) const {
    const bool is_quantized = std::ranges::any_of(
        types_, [](DType dtype) { return dtype_info(dtype)->block_size > 1; });
    for (const gguf::Entry& entry : file_.entries()) {
      const bool own = (entry.key == kFileType && !conversion_.type.empty()) ||
                       (changes() && (entry.key == kQuantization ||
                                      entry.key.starts_with(kImportance)));
      if (!own && entry.key != kAlignment) writer.add(entry);
    }
    if (!conversion_.type.empty()) {
      writer.add(kFileType,
                 quantize::file_type(quantize::find_mix(conversion_.type)));
    }
    if (changes() && is_quantized) {
      writer.add(kQuantization, kQuantizationVersion);
    }
    if (!weights_ || !changes()) return;
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

  void report() const {
    const double fraction =
        total_ == 0 ? 1.0
                    : static_cast<double>(done_) / static_cast<double>(total_);
    if (conversion_.progress && !conversion_.progress(fraction)) {
      fail(RC_E_CANCELLED, file_.name(), ": converting was cancelled");
    }
  }
  void advance(uint64_t bytes) {
    done_ += bytes;
    report();
  }

  void copy(const gguf::Tensor& tensor, const gguf::Writer::Put& put) {
    std::vector<std::byte>& bytes = scratch_[0].bytes;
    for (uint64_t offset = 0; offset < tensor.bytes; offset += kChunkBytes) {
      bytes.resize(std::min(kChunkBytes, tensor.bytes - offset));
      file_.read(tensor, offset, bytes);
      put(bytes);
      advance(bytes.size());
    }
  }

  // Rows are whole blocks, so a tensor is encoded like one long row.
  void encode(const gguf::Tensor& tensor, DType dtype,
              const gguf::Writer::Put& put) {
    int64_t count = 1;
    for (const int64_t size : tensor.shape) count *= size;
    const std::span<const float> weights =
        weights_ ? weights_->of(tensor.name) : std::span<const float>();
    const auto at_once = kPieceElements * static_cast<int64_t>(pieces_.size());
    for (int64_t first = 0; first < count; first += at_once) {
      const int64_t elements = std::min(at_once, count - first);
      const auto pieces =
          static_cast<size_t>((elements + kPieceElements - 1) / kPieceElements);
      crew_.run(pieces, [&](size_t worker, size_t i) {
        const int64_t begin = first + kPieceElements * static_cast<int64_t>(i);
        encode_piece(tensor, dtype, begin,
                     std::min(kPieceElements, first + elements - begin),
                     weights, scratch_[worker], pieces_[i]);
      });
      for (size_t i = 0; i < pieces; ++i) put(pieces_[i]);
      advance(*row_bytes(tensor.dtype, elements));
    }
  }

  void encode_piece(const gguf::Tensor& tensor, DType dtype, int64_t begin,
                    int64_t count, std::span<const float> importance,
                    Scratch& scratch, std::vector<std::byte>& target) const {
    scratch.bytes.resize(*row_bytes(tensor.dtype, count));
    file_.read(tensor, *row_bytes(tensor.dtype, begin), scratch.bytes);
    scratch.values.resize(static_cast<size_t>(count));
    decode_row(tensor.dtype, scratch.bytes.data(), scratch.values.data(),
               count);
    check(tensor, dtype, scratch.values);
    const float* weights = nullptr;
    if (!importance.empty()) {
      expand(tensor, begin, count, importance, scratch.weights);
      weights = scratch.weights.data();
    }
    target.resize(*row_bytes(dtype, count));
    quantize::find_encoder(dtype)(scratch.values.data(), weights, count,
                                  reinterpret_cast<uint8_t*>(target.data()));
  }

  // The weights of `count` elements from `begin` on.
  static void expand(const gguf::Tensor& tensor, int64_t begin, int64_t count,
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

  void check(const gguf::Tensor& tensor, DType dtype,
             std::span<const float> values) const {
    const float largest = quantize::largest_element(dtype);
    if (std::isinf(largest)) return;
    for (const float value : values) {
      if (std::abs(value) <= largest) continue;
      fail(RC_E_UNSUPPORTED, file_.name(), ": tensor ", quote(tensor.name),
           " holds ", value, ", which ", dtype_name(dtype),
           " cannot; convert to BF16 or F32");
    }
  }

  const gguf::File& file_;
  const Conversion& conversion_;
  importance::Importance importance_;
  std::optional<quantize::Weights> weights_;
  std::vector<DType> types_;
  quantize::Crew crew_;
  std::vector<Scratch> scratch_;
  std::vector<std::vector<std::byte>> pieces_;
  uint64_t done_ = 0;
  uint64_t total_ = 0;
};

}  // namespace

void check_conversion(const Conversion& conversion) {
  if (!conversion.type.empty()) quantize::find_mix(conversion.type);
  quantize::check_overrides(conversion.tensors);
}

void convert_model(const gguf::File& file, const std::string& path,
                   const Conversion& conversion) {
  Work(file, conversion).write(path);
}

}  // namespace rc
