// Tensors from one device or handle to another.
#include <algorithm>
#include <memory>

#include "base/error.h"
#include "compute/ops.h"
#include "compute/tensor.h"

namespace rc::compute {
namespace {

// Of the host's memory that bytes pass through.
constexpr uint64_t kPart = uint64_t{16} << 20;

}  // namespace

void move_bytes(const runtime::Buffer& source, uint64_t source_offset,
                runtime::Buffer& target, uint64_t target_offset,
                uint64_t bytes) {
  const auto part =
      std::make_unique_for_overwrite<std::byte[]>(std::min(bytes, kPart));
  for (uint64_t done = 0; done < bytes; done += kPart) {
    const uint64_t count = std::min(bytes - done, kPart);
    source.download(source_offset + done, part.get(), count);
    target.upload(target_offset + done, part.get(), count);
  }
}

Tensor move(const Tensor& tensor, std::shared_ptr<Context> target) {
  const Context& from = *tensor.context;
  // Memory of another handle is on its account.
  if (from.device() == target->device() && from.pool() == target->pool()) {
    return tensor;
  }
  if (tensor.empty()) {
    return tensor.outlined
               ? make_outline(std::move(target), tensor.dtype, tensor.shape)
               : make_tensor(std::move(target), tensor.dtype, tensor.shape);
  }
  if (tensor.recorded()) {
    fail(RC_E_INVALID_ARGUMENT,
         "the tensor was recorded in a graph and has no numbers; move what a "
         "run of the graph gives");
  }
  if (tensor.outline()) {
    return make_outline(std::move(target), tensor.dtype, tensor.shape);
  }
  const Tensor whole = dense(tensor);
  Tensor moved = make_result(std::move(target), whole.dtype, whole.shape);
  move_bytes(*whole.storage->buffer(), whole.byte_offset(),
             *moved.storage->buffer(), 0, whole.bytes());
  return moved;
}

}  // namespace rc::compute
