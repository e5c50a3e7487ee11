// The commands of a queue, and those that are done.
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#include "webgpu/browser/functions.h"
#include "webgpu/browser/objects.h"
#include "webgpu/library.h"

namespace rc::webgpu {
namespace {

// Fewer bytes go with the request; others are waited for until JavaScript has
// copied them.
constexpr size_t kWithRequest = 4096;

// The bytes read from buffers that are mapped, by their numbers; under the
// lock.
std::map<uint32_t, std::unique_ptr<uint8_t[]>>& mapped() {
  static auto* const all = new std::map<uint32_t, std::unique_ptr<uint8_t[]>>;
  return *all;
}

abi::Encoder create_encoder(abi::Device device, const abi::Description*) {
  const auto made = numbered<abi::Encoder>();
  channel().put(Request::k_encoder, {device->number, number_of(made)});
  return made;
}

abi::Pass begin_pass(abi::Encoder encoder, const abi::PassDescription*) {
  const auto made = numbered<abi::Pass>();
  channel().put(Request::k_pass, {number_of(encoder), number_of(made)});
  return made;
}

void copy(abi::Encoder encoder, abi::Buffer source, uint64_t source_offset,
          abi::Buffer target, uint64_t target_offset, uint64_t bytes) {
  channel().put(Request::k_copy,
                {number_of(encoder), number_of(source), low(source_offset),
                 high(source_offset), number_of(target), low(target_offset),
                 high(target_offset), low(bytes), high(bytes)});
}

// To the buffer's end.
void clear(abi::Encoder encoder, abi::Buffer buffer, uint64_t offset,
           uint64_t) {
  channel().put(Request::k_clear, {number_of(encoder), number_of(buffer),
                                   low(offset), high(offset)});
}

// An encoder is finished when it is submitted.
abi::Commands finish(abi::Encoder encoder, const abi::Description*) {
  return reinterpret_cast<abi::Commands>(encoder);
}

void submit(abi::Queue queue, size_t count, const abi::Commands* commands) {
  std::vector<uint32_t> words = {number_of(queue)};
  for (size_t i = 0; i < count; ++i) words.push_back(number_of(commands[i]));
  channel().put(Request::k_submit, words);
  channel().flush();
}

void write(abi::Queue queue, abi::Buffer buffer, uint64_t offset,
           const void* data, size_t bytes) {
  const std::initializer_list<uint32_t> head = {
      number_of(queue), number_of(buffer), low(offset), high(offset)};
  std::vector<uint32_t> words(head);
  if (bytes > kWithRequest) {
    words.insert(words.end(), {address(data), static_cast<uint32_t>(bytes)});
    channel().put(Request::k_write, words);
    channel().wait_until_taken();
    return;
  }
  // The driver writes whole words.
  words.resize(head.size() + bytes / 4);
  std::memcpy(words.data() + head.size(), data, bytes / 4 * 4);
  channel().put(Request::k_write_words, words);
}

abi::Future when_done(abi::Queue queue, abi::StatusCallback callback) {
  channel().ask(Request::k_done, {number_of(queue)}, [=](const Answer& answer) {
    callback.function(answer.status, {answer.message, SIZE_MAX}, callback.first,
                      callback.second);
  });
  return {0};
}

// JavaScript copies what is mapped, and lets go of it.
abi::Future map(abi::Buffer buffer, uint64_t, size_t offset, size_t bytes,
                abi::StatusCallback callback) {
  auto& data = mapped()[number_of(buffer)];
  data.reset(new uint8_t[bytes]);
  channel().ask(Request::k_read,
                {number_of(buffer), static_cast<uint32_t>(offset),
                 static_cast<uint32_t>(bytes), address(data.get())},
                [=](const Answer& answer) {
                  callback.function(answer.status, {answer.message, SIZE_MAX},
                                    callback.first, callback.second);
                });
  return {0};
}

const void* mapped_range(abi::Buffer buffer, size_t, size_t) {
  return mapped()[number_of(buffer)].get();
}

void unmap(abi::Buffer buffer) { mapped().erase(number_of(buffer)); }

}  // namespace

void add_command_functions(abi::Functions* functions) {
  abi::Functions& f = *functions;
  f.DeviceCreateCommandEncoder = create_encoder;
  f.CommandEncoderBeginComputePass = begin_pass;
  f.CommandEncoderCopyBufferToBuffer = copy;
  f.CommandEncoderClearBuffer = clear;
  f.CommandEncoderFinish = finish;
  f.CommandEncoderRelease = release_object<abi::Encoder>;
  f.CommandBufferRelease = [](abi::Commands) {};  // with its encoder
  f.ComputePassEncoderSetPipeline = [](abi::Pass pass, abi::Pipeline pipeline) {
    channel().put(Request::k_set_pipeline,
                  {number_of(pass), number_of(pipeline)});
  };
  f.ComputePassEncoderSetBindGroup = [](abi::Pass pass, uint32_t,
                                        abi::BindGroup group, size_t,
                                        const uint32_t*) {
    channel().put(Request::k_set_group, {number_of(pass), number_of(group)});
  };
  f.ComputePassEncoderDispatchWorkgroups = [](abi::Pass pass, uint32_t x,
                                              uint32_t y, uint32_t z) {
    channel().put(Request::k_dispatch, {number_of(pass), x, y, z});
  };
  f.ComputePassEncoderEnd = [](abi::Pass pass) {
    channel().put(Request::k_end_pass, {number_of(pass)});
  };
  f.ComputePassEncoderRelease = release_object<abi::Pass>;
  f.QueueSubmit = submit;
  f.QueueWriteBuffer = write;
  f.QueueOnSubmittedWorkDone = when_done;
  f.BufferMapAsync = map;
  f.BufferGetConstMappedRange = mapped_range;
  f.BufferUnmap = unmap;
}

}  // namespace rc::webgpu
