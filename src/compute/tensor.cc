#include "compute/tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/checked.h"
#include "base/error.h"
#include "base/portable_math.h"
#include "base/random.h"
#include "compute/filling.h"
#include "compute/ops.h"

namespace rc::compute {
namespace {

// Standard normal numbers in pairs, by the polar method (Marsaglia and Bray
// 1964).
class Normal {
 public:
  explicit Normal(Random& random) : random_(random) {}
  double next() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    double u = 0, v = 0, square = 0;
    do {
      u = 2 * random_.uniform() - 1;
      v = 2 * random_.uniform() - 1;
      square = u * u + v * v;
    } while (square >= 1 || square < 0x1p-1000);
    const double factor = std::sqrt(-2 * portable_log(square) / square);
    spare_ = v * factor;
    has_spare_ = true;
    return u * factor;
  }

 private:
  Random& random_;
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace

std::shared_ptr<runtime::Device> Context::fall_back(const char* op,
                                                    const std::string& reason) {
  if (chain_.strict()) {
    fail(RC_E_UNSUPPORTED, device()->id(), " does not support ", op, " (",
         reason, "). Open the backend without strict, and it runs on the CPU");
  }
  std::shared_ptr<runtime::Device> found = fallback_device();
  if (found == device()) {
    fail(RC_E_UNSUPPORTED, device()->id(), " does not support ", op, " (",
         reason, ")");
  }
  note({op, device()->id(), found->id(), reason});
  return found;
}

std::shared_ptr<runtime::Device> Context::fallback_device() {
  const std::lock_guard lock(mutex_);
  if (fallback_device_ == nullptr) fallback_device_ = chain_.open_fallback();
  return fallback_device_;
}

void Context::note(const runtime::Fallback& fallback) {
  if (placement_ != nullptr) {
    placement_->note(fallback);
    return;
  }
  const std::lock_guard lock(mutex_);
  const bool known = std::any_of(
      fallbacks_.begin(), fallbacks_.end(),
      [&](const auto& earlier) { return earlier.op == fallback.op; });
  if (!known) fallbacks_.push_back(fallback);
}

std::vector<runtime::Fallback> Context::fallbacks() const {
  const std::lock_guard lock(mutex_);
  return fallbacks_;
}

Storage::Storage(const Context& context, uint64_t bytes, bool zeroed)
    : pool_(context.pool()),
      buffer_(context.pool()->take(*context.device(), bytes, zeroed)) {}

bool Tensor::dense() const {
  int64_t wanted = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] > 1 && strides[i] != wanted) return false;
    wanted *= std::max<int64_t>(shape[i], 1);
  }
  return true;
}

uint64_t Tensor::bytes() const {
  const DTypeInfo& type = *dtype_info(dtype);
  return static_cast<uint64_t>(elements() / type.block_size) *
         static_cast<uint64_t>(type.block_bytes);
}

uint64_t Tensor::byte_offset() const {
  const DTypeInfo& type = *dtype_info(dtype);
  return static_cast<uint64_t>(offset / type.block_size) *
         static_cast<uint64_t>(type.block_bytes);
}

std::string Tensor::text() const {
  return cat(dtype_name(dtype), " ", shape_text(shape));
}

uint64_t check_shape(DType dtype, const Shape& shape) {
  const DTypeInfo* type = dtype_info(dtype);
  if (type == nullptr) fail(RC_E_INVALID_ARGUMENT, "dtype: ", dtype);
  if (shape.empty() || shape.size() > kMaxRank) {
    fail(RC_E_INVALID_ARGUMENT, "rank: ", shape.size(), "; 1 to ", kMaxRank,
         " are possible");
  }
  const auto refuse = [&](const auto&... why) {
    fail(RC_E_INVALID_ARGUMENT, "a tensor of ", type->name, " ",
         shape_text(shape), ": ", why...);
  };
  // Counted with empty dimensions as 1, so that no product of strides, of
  // whatever views, overflows either.
  std::optional<int64_t> count = 1;
  bool empty = false;
  for (const int64_t dimension : shape) {
    if (dimension < 0) refuse("dimensions cannot be negative");
    empty = empty || dimension == 0;
    if (count) count = checked_mul(*count, std::max<int64_t>(dimension, 1));
  }
  if (shape.back() % type->block_size != 0) {
    refuse("the last dimension is no multiple of ", type->block_size,
           ", the elements of a block");
  }
  const auto blocks =
      count ? checked_add(*count / type->block_size, int64_t{1}) : std::nullopt;
  const auto bytes =
      blocks ? checked_mul(*blocks, type->block_bytes) : std::nullopt;
  if (!bytes) refuse("more elements than can be addressed");
  if (empty) return 0;
  return static_cast<uint64_t>(*count / type->block_size) *
         static_cast<uint64_t>(type->block_bytes);
}

namespace {

Tensor stored(std::shared_ptr<Context> context, DType dtype, const Shape& shape,
              bool zeroed) {
  const uint64_t bytes = check_shape(dtype, shape);
  Tensor tensor;
  if (bytes > 0) {
    tensor.storage = std::make_shared<Storage>(*context, bytes, zeroed);
  }
  tensor.context = std::move(context);
  tensor.dtype = dtype;
  tensor.shape = shape;
  tensor.strides = dense_strides(shape);
  return tensor;
}

}  // namespace

Tensor make_tensor(std::shared_ptr<Context> context, DType dtype,
                   const Shape& shape) {
  return stored(std::move(context), dtype, shape, true);
}

Tensor make_result(std::shared_ptr<Context> context, DType dtype,
                   const Shape& shape) {
  return stored(std::move(context), dtype, shape, false);
}

Tensor make_outline(std::shared_ptr<Context> context, DType dtype,
                    const Shape& shape,
                    std::shared_ptr<const OpChoice> choice) {
  if (check_shape(dtype, shape) == 0) {
    Tensor empty = make_tensor(std::move(context), dtype, shape);
    empty.outlined = true;
    return empty;
  }
  Tensor tensor;
  tensor.storage = std::make_shared<Storage>(std::move(choice));
  tensor.context = std::move(context);
  tensor.dtype = dtype;
  tensor.shape = shape;
  tensor.strides = dense_strides(shape);
  return tensor;
}

Tensor from_data(std::shared_ptr<Context> context, DType dtype,
                 const Shape& shape, std::span<const std::byte> data) {
  const uint64_t bytes = check_shape(dtype, shape);
  if (bytes != data.size()) {
    fail(RC_E_INVALID_ARGUMENT, "bytes: ", data.size(), ", but ",
         dtype_name(dtype), " ", shape_text(shape), " takes ", bytes);
  }
  Tensor tensor = make_result(std::move(context), dtype, shape);
  if (bytes > 0) tensor.storage->buffer()->upload(0, data.data(), bytes);
  return tensor;
}

Tensor ones(std::shared_ptr<Context> context, DType dtype, const Shape& shape) {
  static_cast<void>(check_shape(dtype, shape));
  if (!encodable(dtype)) {
    fail(RC_E_UNSUPPORTED, "ones of ", dtype_name(dtype),
         ", a type that cannot be encoded");
  }
  return filled(std::move(context), dtype, shape, 1);
}

Tensor random(std::shared_ptr<Context> context, const Shape& shape,
              const RandomNumbers& numbers) {
  Tensor tensor = make_result(std::move(context), RC_DTYPE_F32, shape);
  if (tensor.empty()) return tensor;
  Random random(numbers.seed);
  Normal normal(random);
  // Rounding must not reach what lies beyond.
  const float below = std::nextafter(numbers.high, numbers.low);
  const double width = static_cast<double>(numbers.high) - numbers.low;
  fill(tensor, [&](int64_t, int64_t count, std::byte* data) {
    for (int64_t i = 0; i < count; ++i) {
      const float number =
          numbers.uniform
              ? std::min(below, static_cast<float>(numbers.low +
                                                   width * random.uniform()))
              : static_cast<float>(numbers.mean +
                                   numbers.deviation * normal.next());
      std::memcpy(data + i * sizeof number, &number, sizeof number);
    }
  });
  return tensor;
}

void read(const Tensor& tensor, std::span<std::byte> data) {
  if (data.size() != tensor.bytes()) {
    fail(RC_E_INVALID_ARGUMENT, "bytes: ", data.size(), ", but ", tensor.text(),
         " has ", tensor.bytes());
  }
  if (tensor.recorded()) {
    fail(RC_E_INVALID_ARGUMENT, "the ", tensor.text(),
         " was recorded in a graph and has no numbers; end the graph with it "
         "among the outputs, and a run gives a tensor of them");
  }
  if (tensor.empty()) return;
  if (tensor.outline()) {
    fail(RC_E_INVALID_ARGUMENT, "the ", tensor.text(),
         " is an outline, which has no numbers");
  }
  const Tensor whole = dense(tensor);
  whole.storage->buffer()->download(whole.byte_offset(), data.data(),
                                    data.size());
}

}  // namespace rc::compute
