#include "model/weight_buffer.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "base/error.h"
#include "base/memory.h"
#include "base/quote.h"
#include "tensor/dtype.h"

namespace rc::model {
namespace {

// The bytes that a thread reads at once: with fewer it would take longer to
// wake it than to read.
constexpr uint64_t kCopiedPart = uint64_t{2} << 20;
constexpr uint64_t kComputedPart = uint64_t{64} << 10;
// The threads that copy from the system's cache of files as fast as memory
// allows.
constexpr int kMostThreads = 4;

uint64_t whole_blocks(DType dtype, uint64_t bytes) {
  const auto block = static_cast<uint64_t>(dtype_info(dtype)->block_bytes);
  return std::max(bytes / block, uint64_t{1}) * block;
}

}  // namespace

WeightBuffer::~WeightBuffer() {
  if (!bytes_.empty()) unmap_memory(bytes_.data(), bytes_.size());
}

// Exactly as large: weights are read the largest first, and the room of one
// would stay allocated next to all the smaller ones. Mapped, so that what is
// given back does not become a hole in the heap between the weights of a CPU
// device.
std::span<std::byte> WeightBuffer::take(uint64_t size) {
  if (size == bytes_.size()) return bytes_;
  if (!bytes_.empty()) unmap_memory(bytes_.data(), bytes_.size());
  bytes_ = {};
  if (size > SIZE_MAX) throw std::bad_alloc();
  bytes_ = map_memory(static_cast<size_t>(size));
  if (bytes_.empty()) throw std::bad_alloc();
  // Fewer pages to make.
  use_huge_pages(bytes_.data(), bytes_.size());
  return bytes_;
}

const std::byte* WeightBuffer::read(const gguf::File& file,
                                    const gguf::Tensor& tensor, int threads) {
  const std::span<std::byte> target = take(tensor.bytes);
  const bool computes = file.source() != nullptr && file.source()->computes();
  const uint64_t part =
      whole_blocks(tensor.dtype, computes ? kComputedPart : kCopiedPart);
  const uint64_t parts = (tensor.bytes + part - 1) / part;
  std::atomic<uint64_t> done = 0;
  const auto read_part = [&](size_t worker, size_t i) {
    const uint64_t begin = part * i;
    const uint64_t size = std::min(part, tensor.bytes - begin);
    file.read(tensor, begin, target.subspan(begin, size));
    const uint64_t now = done += size;
    if (worker == 0 && progress_) {
      progress_(static_cast<double>(now) / static_cast<double>(tensor.bytes));
    }
  };
  if (parts == 1) {
    read_part(0, 0);
    return target.data();
  }
  const int team = computes ? threads : std::min(threads, kMostThreads);
  if (!crew_) crew_.emplace(std::max(team, 1));
  crew_->run(parts, read_part);
  return target.data();
}

const std::byte* WeightBuffer::read(const gguf::File& file,
                                    const gguf::Tensor& tensor,
                                    const RowsOfHeads& rows) {
  const int64_t columns = tensor.shape.back();
  // A stack has a matrix for each.
  const int64_t heads = tensor.shape.size() == 3
                            ? tensor.shape[0]
                            : tensor.shape[0] / rows.period;
  const uint64_t row = *row_bytes(tensor.dtype, columns);
  const uint64_t each = row * static_cast<uint64_t>(rows.count);
  const auto count = static_cast<uint64_t>(heads);
  const auto place = [&](int64_t head) {
    return row * static_cast<uint64_t>(head * rows.period + rows.first);
  };
  if (!rows.turned) {
    const std::span<std::byte> target = take(each * count);
    for (int64_t h = 0; h < heads; ++h) {
      file.read(tensor, place(h),
                target.subspan(each * static_cast<uint64_t>(h), each));
    }
    return target.data();
  }
  const auto elements = static_cast<uint64_t>(rows.count * columns);
  const std::span<std::byte> target = take(elements * count * sizeof(float));
  std::vector<std::byte> head(each);
  std::vector<float> decoded(static_cast<size_t>(columns));
  auto* to = reinterpret_cast<float*>(target.data());
  for (int64_t h = 0; h < heads; ++h, to += elements) {
    file.read(tensor, place(h), head);
    for (int64_t r = 0; r < rows.count; ++r) {
      decode_row(tensor.dtype, head.data() + row * static_cast<uint64_t>(r),
                 decoded.data(), columns);
      for (int64_t c = 0; c < columns; ++c) {
        to[c * rows.count + r] = decoded[static_cast<size_t>(c)];
      }
    }
  }
  return target.data();
}

}  // namespace rc::model
