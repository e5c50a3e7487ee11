#include "streams/stream_device.h"

#include <utility>

#include "gpu/dispatch.h"
#include "streams/buffer.h"
#include "streams/recording.h"

namespace rc::streams {
namespace {

Stream stream_of(Driver& driver) {
  const Current current(driver);
  return {driver, driver.make_stream()};
}

}  // namespace

StreamDevice::StreamDevice(std::unique_ptr<Driver> driver, const Tuning& tuning,
                           uint64_t total_memory,
                           const rc_plugin_open_options& options)
    : driver_(std::move(driver)),
      runs_(stream_of(*driver_)),
      transfers_(stream_of(*driver_)),
      tuning_(tuning),
      packing_(/*doubles=*/true),
      total_memory_(total_memory),
      profile_(options.profile != 0) {
  speed = 1e6 * tuning_.speed;
}

std::unique_ptr<gpu::Buffer> StreamDevice::allocate(uint64_t bytes,
                                                    gpu::MemoryUse use) {
  return std::make_unique<Buffer>(*driver_, transfers_.get(), bytes, use);
}

void StreamDevice::copy(gpu::Buffer& target, uint64_t target_offset,
                        gpu::Buffer& source, uint64_t source_offset,
                        uint64_t bytes) {
  if (bytes == 0) return;
  const Current current(*driver_);
  driver_->copy(static_cast<Buffer&>(target).address() + target_offset,
                static_cast<Buffer&>(source).address() + source_offset, bytes,
                transfers_.get());
  driver_->synchronize(transfers_.get());
}

void StreamDevice::check_supported(
    const Op& op, std::span<const rc_plugin_value> values) const {
  packing_.check_decodable(op, values);
  gpu::check_supported(*this, op, values);
}

std::unique_ptr<gpu::Recording> StreamDevice::record(
    const gpu::PlacedProgram& program) {
  return std::make_unique<Recording>(*this, program);
}

}  // namespace rc::streams
