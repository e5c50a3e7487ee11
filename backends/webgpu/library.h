// The implementation of WebGPU that the machine has, found when it is first
// needed (native/) or that of the browser (browser/), and handles of its
// objects that release themselves.
//
// Threads: implementations need not be safe for more than one, so that
// callers hold `lock`.
#pragma once

#include <mutex>
#include <string>
#include <utility>

#include "webgpu/abi.h"

namespace rc::webgpu {

// Loads it at the first call that succeeds: the file that
// RUNCIBLE_WEBGPU_LIBRARY names, or libwgpu_native or libwebgpu_dawn where the
// system finds them. Throws RC_E_BACKEND_UNAVAILABLE if there is none, or if
// its structures have another layout.
const abi::Functions& wgpu();

// "wgpu-native 29.0.1", or the name of its file. After wgpu().
const std::string& implementation();

// Of a wait that has processed events so often without success. Not under the
// lock.
void pause(int looks);

// Of the process. Callbacks come to who processes events, under the lock.
std::recursive_mutex& mutex();
struct Lock : std::lock_guard<std::recursive_mutex> {
  Lock() : std::lock_guard<std::recursive_mutex>(mutex()) {}
};

std::string string(const abi::Text& text);

// Owns a reference. `kRelease` is the function that gives it back.
template <class T, auto kRelease>
class Handle {
 public:
  Handle() = default;
  explicit Handle(T value) : value_(value) {}
  Handle(Handle&& other) noexcept
      : value_(std::exchange(other.value_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Handle() {
    if (value_ == nullptr) return;
    const Lock lock;
    (wgpu().*kRelease)(value_);
  }
  T get() const { return value_; }
  explicit operator bool() const { return value_ != nullptr; }

 private:
  T value_ = nullptr;
};

using AdapterHandle = Handle<abi::Adapter, &abi::Functions::AdapterRelease>;
using QueueHandle = Handle<abi::Queue, &abi::Functions::QueueRelease>;
using BufferHandle = Handle<abi::Buffer, &abi::Functions::BufferRelease>;
using ModuleHandle =
    Handle<abi::ShaderModule, &abi::Functions::ShaderModuleRelease>;
using GroupLayoutHandle =
    Handle<abi::BindGroupLayout, &abi::Functions::BindGroupLayoutRelease>;
using GroupHandle = Handle<abi::BindGroup, &abi::Functions::BindGroupRelease>;
using LayoutHandle =
    Handle<abi::PipelineLayout, &abi::Functions::PipelineLayoutRelease>;
using PipelineHandle =
    Handle<abi::Pipeline, &abi::Functions::ComputePipelineRelease>;
using EncoderHandle =
    Handle<abi::Encoder, &abi::Functions::CommandEncoderRelease>;
using CommandsHandle =
    Handle<abi::Commands, &abi::Functions::CommandBufferRelease>;
using PassHandle =
    Handle<abi::Pass, &abi::Functions::ComputePassEncoderRelease>;

}  // namespace rc::webgpu
