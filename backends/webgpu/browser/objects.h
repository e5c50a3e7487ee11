// Objects of WebGPU in a browser: most are numbers that JavaScript has the
// objects of, in place of pointers.
#pragma once

#include <cstdint>
#include <string>

#include "webgpu/abi.h"
#include "webgpu/browser/channel.h"

namespace rc::webgpu::abi {

struct AdapterObject {
  uint32_t number;
  std::string name;
  bool software;
  bool f16, subgroups;
  Limits limits;
};

struct DeviceObject {
  uint32_t number;
  uint32_t queue;
  Trouble* trouble;  // never freed: JavaScript may report a loss at any time
  LostCallback lost;
  ErrorCallback error;
  bool told_loss;
};

}  // namespace rc::webgpu::abi

namespace rc::webgpu {

inline Channel& channel() { return Channel::instance(); }

// Of numbers of 64 bits, as requests have them.
inline uint32_t low(uint64_t number) { return static_cast<uint32_t>(number); }
inline uint32_t high(uint64_t number) {
  return static_cast<uint32_t>(number >> 32);
}

template <class Pointer>
uint32_t number_of(Pointer object) {
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(object));
}
inline uint32_t number_of(abi::Adapter adapter) { return adapter->number; }
inline uint32_t number_of(abi::Device device) { return device->number; }

// A new one.
template <class Pointer>
Pointer numbered() {
  return reinterpret_cast<Pointer>(
      static_cast<uintptr_t>(channel().new_object()));
}

inline void release_number(uint32_t number) {
  channel().put(Request::k_release, {number});
}
template <class Pointer>
void release_object(Pointer object) {
  release_number(number_of(object));
}

}  // namespace rc::webgpu
