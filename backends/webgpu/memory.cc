#include "webgpu/memory.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace rc::webgpu {
namespace {

// Bytes that are moved at once.
constexpr uint64_t kPiece = uint64_t{8} << 20;

// WebGPU moves whole words.
bool whole_words(uint64_t number) { return number % 4 == 0; }

}  // namespace

Buffer::Buffer(WebGpuDevice& device, uint64_t bytes)
    : gpu::Buffer(bytes),
      device_(device),
      buffer_(device.make_buffer(
          bytes, abi::kUseStorage | abi::kUseCopyFrom | abi::kUseCopyTo)) {}

void Buffer::write(uint64_t offset, const void* data, uint64_t bytes) {
  if (bytes == 0) return;
  const auto* from = static_cast<const uint8_t*>(data);
  if (!whole_words(offset) || !whole_words(bytes)) {
    // The words that it begins and ends within keep their other bytes.
    const uint64_t begin = offset / 4 * 4;
    const uint64_t end = (offset + bytes + 3) / 4 * 4;
    std::vector<uint8_t> words(end - begin);
    read(begin, words.data(), 4);
    read(end - 4, words.data() + words.size() - 4, 4);
    std::memcpy(words.data() + (offset - begin), from, bytes);
    return write(begin, words.data(), words.size());
  }
  for (uint64_t done = 0; done < bytes; done += kPiece) {
    const uint64_t part = std::min(bytes - done, kPiece);
    const Lock lock;
    wgpu().QueueWriteBuffer(device_.queue(), get(), offset + done, from + done,
                            part);
    device_.check("a buffer cannot be written");
  }
}

void Buffer::read(uint64_t offset, void* data, uint64_t bytes) const {
  if (bytes == 0) return;
  const uint64_t begin = offset / 4 * 4;
  const uint64_t end = (offset + bytes + 3) / 4 * 4;
  const uint64_t most = std::min(end - begin, kPiece);
  const BufferHandle staging =
      device_.make_buffer(most, abi::kUseMapRead | abi::kUseCopyTo);
  std::vector<uint8_t> words(most);
  auto* to = static_cast<uint8_t*>(data);
  for (uint64_t at = begin; at < end; at += most) {
    const uint64_t part = std::min(end - at, most);
    device_.submit([&](abi::Encoder encoder) {
      wgpu().CommandEncoderCopyBufferToBuffer(encoder, get(), at, staging.get(),
                                              0, part);
    });
    device_.read(staging.get(), part, words.data());
    const uint64_t from = std::max(at, offset);
    const uint64_t until = std::min(at + part, offset + bytes);
    std::memcpy(to + (from - offset), words.data() + (from - at), until - from);
  }
}

void Buffer::clear() {
  device_.submit([&](abi::Encoder encoder) {
    wgpu().CommandEncoderClearBuffer(encoder, get(), 0, UINT64_MAX);
  });
}

void copy(WebGpuDevice& device, Buffer& target, uint64_t target_offset,
          const Buffer& source, uint64_t source_offset, uint64_t bytes) {
  if (bytes == 0) return;
  if (!whole_words(target_offset) || !whole_words(source_offset) ||
      !whole_words(bytes)) {
    std::vector<uint8_t> all(bytes);
    source.read(source_offset, all.data(), bytes);
    return target.write(target_offset, all.data(), bytes);
  }
  // A buffer is not copied to itself.
  const bool within = target.get() == source.get();
  const BufferHandle between =
      within ? device.make_buffer(bytes, abi::kUseCopyFrom | abi::kUseCopyTo)
             : BufferHandle();
  device.submit([&](abi::Encoder encoder) {
    const auto& copy = wgpu().CommandEncoderCopyBufferToBuffer;
    if (within) {
      copy(encoder, source.get(), source_offset, between.get(), 0, bytes);
      copy(encoder, between.get(), 0, target.get(), target_offset, bytes);
    } else {
      copy(encoder, source.get(), source_offset, target.get(), target_offset,
           bytes);
    }
  });
}

}  // namespace rc::webgpu
