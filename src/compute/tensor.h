// Tensors on a device: memory that is written once, by the op that makes it,
// and strided views of it.
//
// Tensors are values that share their memory; any thread may use them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "compute/buffer_pool.h"
#include "compute/op_programs.h"
#include "compute/placement.h"
#include "compute/shape.h"
#include "runtime/assignment.h"
#include "runtime/device_chain.h"
#include "tensor/dtype.h"

namespace rc::compute {

// Where tensors live: a device, and what its user allows. Ops run there, too,
// unless a placement says where.
class Context {
 public:
  // Tensors lie on the first device of the chain. timeout_ms of each op;
  // negative: no limit.
  Context(runtime::DeviceChain chain, std::shared_ptr<Account> account,
          int64_t timeout_ms)
      : chain_(std::move(chain)),
        pool_(std::make_shared<BufferPool>(std::move(account))),
        timeout_ms_(timeout_ms) {}
  // One of the devices of a placement, with its number there.
  Context(runtime::DeviceChain chain, std::shared_ptr<BufferPool> pool,
          int64_t timeout_ms, std::shared_ptr<Placement> placement, int number)
      : chain_(std::move(chain)),
        pool_(std::move(pool)),
        timeout_ms_(timeout_ms),
        placement_(std::move(placement)),
        number_(number) {}

  const std::shared_ptr<runtime::Device>& device() const {
    return chain_.first();
  }
  const std::shared_ptr<BufferPool>& pool() const { return pool_; }
  bool strict() const { return chain_.strict(); }
  int64_t timeout_ms() const { return timeout_ms_; }
  // nullptr: ops run where their operands lie.
  const std::shared_ptr<Placement>& placement() const { return placement_; }
  int number() const { return number_; }
  OpPrograms& programs() { return programs_; }

  // Returns the device for an op that this one does not support, and notes the
  // reason. Throws RC_E_UNSUPPORTED if the chain is strict, or this is that
  // device.
  std::shared_ptr<runtime::Device> fall_back(const char* op,
                                             const std::string& reason);
  // The device for unsupported ops, which may be this device itself.
  std::shared_ptr<runtime::Device> fallback_device();
  void note(const runtime::Fallback& fallback);
  // The ops that fell back so far, each once.
  std::vector<runtime::Fallback> fallbacks() const;

 private:
  const runtime::DeviceChain chain_;
  const std::shared_ptr<BufferPool> pool_;
  const int64_t timeout_ms_;
  const std::shared_ptr<Placement> placement_;
  const int number_ = 0;
  OpPrograms programs_;
  mutable std::mutex mutex_;
  std::shared_ptr<runtime::Device> fallback_device_;
  std::vector<runtime::Fallback> fallbacks_;
};

class GraphRecording;

// Device memory of a pool; or none, of tensors that are outlines or recorded.
class Storage {
 public:
  Storage(const Context& context, uint64_t bytes, bool zeroed);
  // Of an outline; the choice of the op that would make it, nullptr if none.
  explicit Storage(std::shared_ptr<const OpChoice> choice)
      : outline_(true), choice_(std::move(choice)) {}
  // That of a recording's base with this number (see graph_recording.h).
  Storage(std::shared_ptr<GraphRecording> recording, int32_t base)
      : recording_(std::move(recording)), base_(base) {}
  // Of memory that is the caller's.
  explicit Storage(std::shared_ptr<runtime::Buffer> borrowed)
      : buffer_(std::move(borrowed)) {}
  ~Storage() {
    if (pool_ != nullptr) pool_->give_back(std::move(buffer_));
  }
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  // nullptr of an outline, and while a graph is recorded.
  const std::shared_ptr<runtime::Buffer>& buffer() const { return buffer_; }
  // nullptr unless it is recorded.
  const std::shared_ptr<GraphRecording>& recording() const {
    return recording_;
  }
  int32_t base() const { return base_; }
  bool outline() const { return outline_; }
  const std::shared_ptr<const OpChoice>& choice() const { return choice_; }

 private:
  const std::shared_ptr<BufferPool> pool_;
  std::shared_ptr<runtime::Buffer> buffer_;
  const std::shared_ptr<GraphRecording> recording_;
  const int32_t base_ = -1;
  const bool outline_ = false;
  const std::shared_ptr<const OpChoice> choice_;
};

struct Tensor {
  std::shared_ptr<Context> context;
  std::shared_ptr<Storage> storage;  // NULL if there are no elements
  DType dtype = RC_DTYPE_F32;
  Shape shape;
  Shape strides;          // in elements
  int64_t offset = 0;     // of the first element, in elements
  bool outlined = false;  // it has no elements, and comes from an outline

  int64_t elements() const { return element_count(shape); }
  bool empty() const { return storage == nullptr; }
  // Its numbers are still to be computed, by runs of a graph.
  bool recorded() const {
    return storage != nullptr && storage->recording() != nullptr;
  }
  // It has no numbers: ops on it show where they would be done.
  bool outline() const { return storage != nullptr && storage->outline(); }
  // The same, also where there are no elements: what an op makes of it is an
  // outline.
  bool without_numbers() const { return outlined || outline(); }
  bool dense() const;
  // Of a dense copy.
  uint64_t bytes() const;
  // Of the first element in the storage.
  uint64_t byte_offset() const;
  std::string text() const;  // "F32 [2, 3]"
};

// Throws RC_E_INVALID_ARGUMENT unless such a tensor can exist; gives its bytes.
uint64_t check_shape(DType dtype, const Shape& shape);

// Zero bytes; dense.
Tensor make_tensor(std::shared_ptr<Context> context, DType dtype,
                   const Shape& shape);
// Undefined bytes, to be written whole; dense.
Tensor make_result(std::shared_ptr<Context> context, DType dtype,
                   const Shape& shape);
// An outline; what is empty has nothing to leave out, and is made.
Tensor make_outline(std::shared_ptr<Context> context, DType dtype,
                    const Shape& shape,
                    std::shared_ptr<const OpChoice> choice = nullptr);
// `data` is as long as the shape takes.
Tensor from_data(std::shared_ptr<Context> context, DType dtype,
                 const Shape& shape, std::span<const std::byte> data);
Tensor ones(std::shared_ptr<Context> context, DType dtype, const Shape& shape);
// See rc_tensor_arange.
Tensor arange(std::shared_ptr<Context> context, DType dtype, double start,
              double stop, double step);
// `data`, of as many bytes as the shape takes, is what the tensor is of;
// `owner` goes when nothing reads or writes there any more. Throws
// RC_E_UNSUPPORTED if the device cannot.
Tensor borrow(std::shared_ptr<Context> context, DType dtype, const Shape& shape,
              std::span<std::byte> data, std::shared_ptr<const void> owner);

struct RandomNumbers {
  uint64_t seed = 0;
  bool uniform = false;
  float mean = 0, deviation = 1;
  float low = 0, high = 1;
};
Tensor random(std::shared_ptr<Context> context, const Shape& shape,
              const RandomNumbers& numbers);

// Returns the address of a dense tensor's elements in host memory; nullptr if
// the tensor is empty. Throws RC_E_UNSUPPORTED if the device has separate
// memory.
std::byte* memory_of(const Tensor& tensor);

// `data` has room for tensor.bytes().
void read(const Tensor& tensor, std::span<std::byte> data);

// The same numbers in the target's memory: the tensor itself if it belongs
// there already, else a dense copy.
Tensor move(const Tensor& tensor, std::shared_ptr<Context> target);
// Whether a device can use a buffer of another one where it is, as both compute
// in the host's memory.
bool can_lend(const runtime::Buffer& buffer, const runtime::Device& to);
// Such a buffer of `to`, which keeps the other one.
std::shared_ptr<runtime::Buffer> lend(std::shared_ptr<runtime::Buffer> buffer,
                                      uint64_t offset, uint64_t bytes,
                                      runtime::Device& to);

// Views (view.cc).
Tensor reshape(const Tensor& tensor, Shape shape);
Tensor slice(const Tensor& tensor, int32_t dimension, int64_t begin,
             int64_t end, int64_t step);
Tensor transpose(const Tensor& tensor, int32_t dimension, int32_t other);

}  // namespace rc::compute
