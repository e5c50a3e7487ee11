#include "random_weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "tensor/blocks.h"
#include "tensor/formats/coded_formats.h"

namespace rc::bench {
namespace {

// Elements of a pool beyond one row.
constexpr int64_t kPoolElements = 1 << 19;

std::vector<std::byte> random_mxfp4(int64_t blocks, float deviation,
                                    Random* random) {
  // The root mean square of kMXFP4Values is 5.85.
  const int exponent = std::clamp(
      128 + static_cast<int>(
                std::lround(std::log2(static_cast<double>(deviation) / 5.85))),
      0, 254);
  std::vector<std::byte> bytes(static_cast<size_t>(blocks) *
                               sizeof(BlockMXFP4));
  for (int64_t i = 0; i < blocks; ++i) {
    BlockMXFP4 block;
    block.exponent = static_cast<uint8_t>(exponent);
    for (uint8_t& quant : block.quants) {
      quant = static_cast<uint8_t>(random->next());
    }
    std::memcpy(bytes.data() + i * static_cast<int64_t>(sizeof block), &block,
                sizeof block);
  }
  return bytes;
}

void put_scale(const CodedFormat& format, float scale, uint8_t* block) {
  const uint16_t bits = f32_to_f16(scale);
  if (format.scale_parts.width == 0) {
    std::memcpy(block + format.scale_at, &bits, sizeof bits);
    return;
  }
  for (int i = 0; i < 4; ++i) {
    const int at = bit_of(format.scale_parts, i);
    uint8_t& byte = block[at / 8];
    byte = static_cast<uint8_t>((byte & ~(15 << at % 8)) |
                                (bits >> (4 * i) & 15) << at % 8);
  }
}

void put_scale(const BlockFormat& format, float scale, uint8_t* block) {
  const uint16_t bits = f32_to_f16(scale);
  std::memcpy(block + format.scale.at, &bits, sizeof bits);
  if (format.minimum.sign != Minimum::kNone) {
    std::memcpy(block + format.minimum.at, &bits, sizeof bits);
  }
}

// Random bits under a scale of the right size. Those of NVFP4 have none: there
// the factors are all of the wanted size.
template <class Format>
std::vector<std::byte> random_bits(const Format& format, int64_t blocks,
                                   float deviation, Random* random) {
  std::vector<std::byte> bytes(static_cast<size_t>(blocks * format.bytes));
  std::vector<float> values(static_cast<size_t>(format.elements));
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random->next());
  for (int64_t i = 0; i < blocks; ++i) {
    auto* block = reinterpret_cast<uint8_t*>(bytes.data()) + i * format.bytes;
    if (format.dtype == RC_DTYPE_NVFP4) {
      // Codes have a root mean square of 5.85, factors a unit of 2^-10.
      const float factor = deviation / 5.85f * 1024.0f;
      uint8_t byte = 0;
      while (byte < 0x7E && static_cast<float>(e4m3(byte)) < factor) ++byte;
      std::fill_n(block, format.elements / format.group, byte);
      continue;
    }
    put_scale(format, 1.0f, block);
    decode_row(format.dtype, block, values.data(), format.elements);
    double squares = 0;
    for (const float value : values) squares += value * value;
    const double size = std::sqrt(squares / format.elements);
    put_scale(format, deviation / static_cast<float>(size), block);
  }
  return bytes;
}

}  // namespace

std::vector<std::byte> encode_random(DType dtype, int64_t columns,
                                     float deviation, Random* random) {
  const DTypeInfo* info = dtype_info(dtype);
  if (dtype == RC_DTYPE_MXFP4) {
    return random_mxfp4(columns / info->block_size, deviation, random);
  }
  for (const CodedFormat& format : kCodedFormats) {
    if (format.dtype != dtype) continue;
    return random_bits(format, columns / info->block_size, deviation, random);
  }
  const BlockFormat* format = find_block_format(dtype);
  const bool has_scale = format != nullptr && !format->of_activations &&
                         format->scale.kind == ScaleKind::kF16;
  if (!encodable(dtype) && has_scale) {
    return random_bits(*format, columns / info->block_size, deviation, random);
  }
  if (!encodable(dtype)) {
    fail(RC_E_UNSUPPORTED, "there is no encoder for ", dtype_name(dtype));
  }
  std::vector<std::byte> bytes(
      static_cast<size_t>(columns / info->block_size * info->block_bytes));
  std::vector<float> values(static_cast<size_t>(columns));
  for (float& value : values) value = deviation * random->normal();
  encode_row(dtype, values.data(), bytes.data(), columns);
  return bytes;
}

std::shared_ptr<const RandomWeights::Pool> RandomWeights::pool(
    DType dtype, int64_t columns, float deviation) {
  auto& entry = pools_[{dtype, columns, deviation}];
  if (entry == nullptr) {
    Random random(pools_.size());
    entry = std::make_shared<const Pool>(encode_random(
        dtype, columns * (1 + kPoolElements / columns), deviation, &random));
  }
  return entry;
}

gguf::Writer::Producer RandomWeights::matrix(DType dtype, int64_t rows,
                                             int64_t columns, float deviation) {
  const DTypeInfo* info = dtype_info(dtype);
  const auto row = static_cast<size_t>(row_bytes(dtype, columns).value());
  const auto block = static_cast<size_t>(info->block_bytes);
  return [source = pool(dtype, columns, deviation), seed = ++matrices_, rows,
          row, block](const gguf::Writer::Put& put) {
    constexpr size_t kPieceBytes = 1 << 20;
    const uint64_t starts = (source->size() - row) / block + 1;
    Random random(seed << 32);
    std::vector<std::byte> piece;
    piece.reserve(kPieceBytes + row);
    for (int64_t i = 0; i < rows; ++i) {
      const std::byte* from = source->data() + random.below(starts) * block;
      piece.insert(piece.end(), from, from + row);
      if (piece.size() >= kPieceBytes || i + 1 == rows) {
        put(piece);
        piece.clear();
      }
    }
  };
}

}  // namespace rc::bench
