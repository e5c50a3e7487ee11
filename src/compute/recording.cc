#include "compute/recording.h"

#include <algorithm>

#include "base/error.h"

namespace rc::compute {
namespace {

// Numbers of values and bases are int32_t; this is far below.
constexpr size_t kMostOps = size_t{1} << 24;

rc_plugin_value whole_value(DType dtype, const Shape& shape, int32_t base) {
  rc_plugin_value value = {};
  value.dtype = dtype;
  value.rank = static_cast<int32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), value.shape);
  value.storage = RC_STORAGE_CACHE;
  value.index = base;
  return value;
}

}  // namespace

Tensor Recording::tensor_of(int32_t base, DType dtype, const Shape& shape) {
  Tensor tensor;
  tensor.context = context_;
  tensor.storage = std::make_shared<Storage>(shared_from_this(), base);
  tensor.dtype = dtype;
  tensor.shape = shape;
  tensor.strides = dense_strides(shape);
  return tensor;
}

Tensor Recording::input(DType dtype, const Shape& shape, size_t index) {
  const std::lock_guard lock(mutex_);
  const auto base = static_cast<int32_t>(recorded_.bases.size());
  Tensor tensor = tensor_of(base, dtype, shape);
  recorded_.bases.push_back(
      {Base::kInput, index, nullptr, whole_value(dtype, shape, base)});
  return tensor;
}

int32_t Recording::base_of(const std::shared_ptr<Storage>& storage) {
  if (storage->recording() != nullptr) {
    if (storage->recording().get() == this) return storage->base();
    fail(RC_E_INVALID_ARGUMENT,
         "the tensors of an op were recorded in two graphs");
  }
  const auto next = static_cast<int32_t>(recorded_.bases.size());
  const auto [known, added] = constants_.try_emplace(storage.get(), next);
  if (added) recorded_.bases.push_back({Base::kConstant, 0, storage, {}});
  return known->second;
}

Tensor Recording::add(const Op& op, std::span<const rc_plugin_value> values,
                      const std::shared_ptr<Storage>* const* storages,
                      const Shape& shape) {
  const std::lock_guard lock(mutex_);
  if (ended_) {
    fail(RC_E_INVALID_ARGUMENT, op_name(op.code),
         ": an operand was recorded in a graph that has been ended; ops on it "
         "can only be recorded before");
  }
  if (recorded_.ops.size() >= kMostOps) {
    fail(RC_E_INVALID_ARGUMENT, "a graph has ", kMostOps,
         " ops at most; make several");
  }
  const auto first = static_cast<int32_t>(recorded_.values.size());
  const size_t operands = values.size() - 1;
  const size_t bases_before = recorded_.bases.size();
  try {
    for (size_t i = 0; i < operands; ++i) {
      rc_plugin_value value = values[i];
      value.index = base_of(*storages[i]);
      recorded_.values.push_back(value);
    }
    const auto base = static_cast<int32_t>(recorded_.bases.size());
    rc_plugin_value value = values.back();
    value.index = base;
    recorded_.values.push_back(value);
    Tensor result = tensor_of(base, value.dtype, shape);
    recorded_.bases.push_back(
        {Base::kResult, recorded_.ops.size(), nullptr, value});
    Op numbered = op;
    for (int32_t& input : numbered.inputs) input += input < 0 ? 0 : first;
    numbered.outputs[0] += first;
    recorded_.ops.push_back(numbered);
    return result;
  } catch (...) {
    // Nothing of an op that failed is left.
    recorded_.values.resize(static_cast<size_t>(first));
    recorded_.bases.resize(bases_before);
    std::erase_if(constants_, [&](const auto& constant) {
      return static_cast<size_t>(constant.second) >= bases_before;
    });
    throw;
  }
}

bool Recording::is_result(const Tensor& tensor) const {
  const std::lock_guard lock(mutex_);
  const Base& base =
      recorded_.bases[static_cast<size_t>(tensor.storage->base())];
  return base.kind == Base::kResult && tensor.offset == 0 &&
         tensor.bytes() == value_bytes(base.whole, {}).value();
}

Recorded Recording::recorded() const {
  const std::lock_guard lock(mutex_);
  return recorded_;
}

void Recording::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  // Tensors may outlive the graph; what it holds shall not.
  recorded_ = {};
  constants_.clear();
}

}  // namespace rc::compute
