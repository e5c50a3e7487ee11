// Tensors from one device or handle to another.
#include <memory>
#include <utility>

#include "base/error.h"
#include "compute/ops.h"
#include "compute/tensor.h"

namespace rc::compute {

bool can_lend(const runtime::Buffer& buffer, const runtime::Device& to) {
  return buffer.device().plugin().buffer_memory != nullptr &&
         to.plugin().borrow_buffer != nullptr;
}

std::shared_ptr<runtime::Buffer> lend(std::shared_ptr<runtime::Buffer> buffer,
                                      uint64_t offset, uint64_t bytes,
                                      runtime::Device& to) {
  std::byte* const data = buffer->memory() + offset;
  return to.borrow_buffer(data, bytes, std::move(buffer));
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
  moved.storage->buffer()->copy_from(*whole.storage->buffer(), 0,
                                     whole.byte_offset(), whole.bytes());
  return moved;
}

}  // namespace rc::compute
