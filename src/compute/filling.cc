#include "compute/filling.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/error.h"
#include "base/time_limit.h"
#include "compute/ops.h"

namespace rc::compute {
namespace {

// Bytes of a part: few enough for a cache of the processor.
constexpr int64_t kPartBytes = int64_t{1} << 18;

}  // namespace

void fill(const Tensor& tensor, const PartWriter& write) {
  if (tensor.empty()) return;
  const DTypeInfo& type = *dtype_info(tensor.dtype);
  const int64_t blocks = tensor.elements() / type.block_size;
  const int64_t most =
      std::clamp<int64_t>(kPartBytes / type.block_bytes, 1, blocks);
  std::vector<std::byte> part(static_cast<size_t>(most * type.block_bytes));
  const int64_t timeout_ms = tensor.context->timeout_ms();
  const auto end = time_after(std::max<int64_t>(timeout_ms, 0));
  for (int64_t done = 0; done < blocks;) {
    const int64_t count = std::min(most, blocks - done);
    write(done * type.block_size, count * type.block_size, part.data());
    tensor.storage->buffer()->upload(
        tensor.byte_offset() + static_cast<uint64_t>(done * type.block_bytes),
        part.data(), static_cast<uint64_t>(count * type.block_bytes));
    done += count;
    if (timeout_ms >= 0 && done < blocks &&
        std::chrono::steady_clock::now() >= end) {
      fail(RC_E_TIMEOUT, "the ", tensor.text(), " of ", tensor.bytes(),
           " bytes was not filled after ", timeout_ms,
           " ms, the timeout_ms of the backend handle; ask for fewer elements, "
           "or open the backend with a longer timeout_ms");
    }
  }
}

Tensor filled(std::shared_ptr<Context> context, DType dtype, const Shape& shape,
              float number) {
  static_cast<void>(check_shape(dtype, shape));
  if (!encodable(dtype)) {
    fail(RC_E_UNSUPPORTED, dtype_name(dtype), " ", shape_text(shape), " of ",
         number, ": the type cannot be encoded; ask for F32");
  }
  const Tensor tensor = make_result(std::move(context), dtype, shape);
  // All blocks are the same.
  const DTypeInfo& type = *dtype_info(dtype);
  const std::vector<float> numbers(static_cast<size_t>(type.block_size),
                                   number);
  std::vector<std::byte> block(static_cast<size_t>(type.block_bytes));
  encode_row(dtype, numbers.data(), block.data(), type.block_size);
  int64_t written = 0;  // a part holds its blocks from the one before
  fill(tensor, [&](int64_t, int64_t count, std::byte* data) {
    const int64_t wanted = count / type.block_size;
    for (; written < wanted; ++written) {
      std::memcpy(data + written * type.block_bytes, block.data(),
                  block.size());
    }
  });
  return tensor;
}

Tensor constant_result(std::initializer_list<const Tensor*> operands,
                       DType dtype, const Shape& shape, float number) {
  const std::shared_ptr<Context>& context = (*operands.begin())->context;
  const bool outlined =
      std::any_of(operands.begin(), operands.end(), [](const Tensor* operand) {
        return operand != nullptr && operand->without_numbers();
      });
  if (outlined) return make_outline(context, dtype, shape);
  if (number == 0 || element_count(shape) == 0) {
    return make_tensor(context, dtype, shape);
  }
  return filled(context, dtype, shape, number);
}

Tensor outline_of(const Tensor& tensor) {
  Tensor outline = tensor;
  if (tensor.empty()) {
    outline.outlined = true;
  } else if (!tensor.recorded() && !tensor.outline()) {
    outline.storage =
        std::make_shared<Storage>(std::shared_ptr<const OpChoice>());
  }
  return outline;
}

std::optional<Outlines> Outlines::of(
    std::initializer_list<const Tensor*> operands) {
  bool some = false, all = true;
  for (const Tensor* operand : operands) {
    if (operand == nullptr) continue;
    if (operand->recorded()) return std::nullopt;
    some = some || operand->without_numbers();
    all = all && operand->without_numbers();
  }
  if (!some || all) return std::nullopt;
  Outlines found;
  for (const Tensor* operand : operands) {
    std::optional<Tensor>& outline = found.tensors_.emplace_back();
    if (operand != nullptr) outline = outline_of(*operand);
  }
  return found;
}

}  // namespace rc::compute
