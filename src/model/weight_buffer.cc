#include "model/weight_buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <exception>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/quote.h"
#include "tensor/dtype.h"

namespace rc::model {
namespace {

// With less to read a thread takes longer to start than to read.
constexpr uint64_t kLeastPart = uint64_t{2} << 20;
// What copies from the system's cache of files as fast as memory allows.
constexpr int kMostThreads = 4;

}  // namespace

WeightBuffer::~WeightBuffer() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

// Exactly as large: weights are read the largest first, and the room of one
// would stay allocated next to all the smaller ones. Mapped, so that what is
// given back does not become a hole in the heap between the weights of a CPU
// device.
std::span<std::byte> WeightBuffer::take(uint64_t size) {
  if (size == bytes_.size()) return bytes_;
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
  bytes_ = {};
  void* start = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) throw std::bad_alloc();
  // Best effort: fewer pages to make.
  ::madvise(start, size, MADV_HUGEPAGE);
  bytes_ = {static_cast<std::byte*>(start), size};
  return bytes_;
}

const std::byte* WeightBuffer::read(const gguf::File& file,
                                    const gguf::Tensor& tensor, int threads) {
  const std::span<std::byte> target = take(tensor.bytes);
  const uint64_t parts = std::clamp<uint64_t>(
      tensor.bytes / kLeastPart, 1,
      static_cast<uint64_t>(std::clamp(threads, 1, kMostThreads)));
  const auto read_part = [&](uint64_t begin, uint64_t end) {
    file.read(tensor, begin, target.subspan(begin, end - begin));
  };
  std::vector<std::exception_ptr> failures(parts);
  std::vector<std::thread> team;
  team.reserve(parts);
  uint64_t done = 0;
  for (uint64_t i = 0; i + 1 < parts; ++i) {
    const uint64_t end = tensor.bytes / parts * (i + 1);
    try {
      team.emplace_back([&read_part, &failure = failures[i], done, end] {
        try {
          read_part(done, end);
        } catch (...) {
          failure = std::current_exception();
        }
      });
    } catch (const std::exception&) {
      break;  // what the system refuses the caller does itself
    }
    done = end;
  }
  try {
    read_part(done, tensor.bytes);
  } catch (...) {
    failures.back() = std::current_exception();
  }
  for (std::thread& thread : team) thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
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
