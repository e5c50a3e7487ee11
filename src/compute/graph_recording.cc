#include "compute/graph_recording.h"

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

Tensor GraphRecording::tensor_of(int32_t base, DType dtype,
                                 const Shape& shape) {
  Tensor tensor;
  tensor.context = context_;
  tensor.storage = std::make_shared<Storage>(shared_from_this(), base);
  tensor.dtype = dtype;
  tensor.shape = shape;
  tensor.strides = dense_strides(shape);
  return tensor;
}

Tensor GraphRecording::input(DType dtype, const Shape& shape, size_t index) {
  const std::lock_guard lock(mutex_);
  const auto base = static_cast<int32_t>(recorded_.bases.size());
  Tensor tensor = tensor_of(base, dtype, shape);
  recorded_.bases.push_back(
      {Base::kInput, index, nullptr, whole_value(dtype, shape, base)});
  return tensor;
}

int32_t GraphRecording::base_of(const std::shared_ptr<Storage>& storage) {
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

void GraphRecording::check_open(const char* op) const {
  if (ended_) {
    fail(RC_E_INVALID_ARGUMENT, op,
         ": an operand was recorded in a graph that has been ended; ops on it "
         "can only be recorded before");
  }
  if (recorded_.ops.size() >= kMostOps) {
    fail(RC_E_INVALID_ARGUMENT, "a graph has ", kMostOps,
         " ops at most; make several");
  }
}

template <class Function>
void GraphRecording::attempt(const Function& function) {
  const size_t values_before = recorded_.values.size();
  const size_t bases_before = recorded_.bases.size();
  try {
    function(static_cast<int32_t>(values_before));
  } catch (...) {
    recorded_.values.resize(values_before);
    recorded_.bases.resize(bases_before);
    std::erase_if(constants_, [&](const auto& constant) {
      return static_cast<size_t>(constant.second) >= bases_before;
    });
    throw;
  }
}

void GraphRecording::add_value(rc_plugin_value value,
                               const std::shared_ptr<Storage>& storage) {
  value.index = base_of(storage);
  recorded_.values.push_back(value);
}

Tensor GraphRecording::add_result(rc_plugin_value value, const Shape& shape) {
  const auto base = static_cast<int32_t>(recorded_.bases.size());
  value.index = base;
  recorded_.values.push_back(value);
  Tensor result = tensor_of(base, value.dtype, shape);
  recorded_.bases.push_back(
      {Base::kResult, recorded_.ops.size(), nullptr, value});
  return result;
}

Tensor GraphRecording::add(const Op& op,
                           std::span<const rc_plugin_value> values,
                           const std::shared_ptr<Storage>* const* storages,
                           const Shape& shape) {
  const std::lock_guard lock(mutex_);
  check_open(op_name(op.code));
  Tensor result;
  attempt([&](int32_t first) {
    for (size_t i = 0; i + 1 < values.size(); ++i) {
      add_value(values[i], *storages[i]);
    }
    result = add_result(values.back(), shape);
    RecordedOp numbered{op, nullptr, {}};
    for (int32_t& input : numbered.inputs) input += input < 0 ? 0 : first;
    numbered.outputs[0] += first;
    recorded_.ops.push_back(std::move(numbered));
  });
  return result;
}

std::vector<Tensor> GraphRecording::add(CustomCall call,
                                        std::span<const Tensor> inputs) {
  const std::lock_guard lock(mutex_);
  check_open(call.op->name().c_str());
  std::vector<Tensor> results;
  attempt([&](int32_t first) {
    RecordedOp made;
    made.code = kCustomOp;
    int32_t next = first;
    for (size_t i = 0; i < inputs.size(); ++i) {
      // One without elements has no memory to stand for.
      if (inputs[i].empty()) continue;
      rc_plugin_value value = whole_value(inputs[i].dtype, inputs[i].shape, 0);
      value.offset = inputs[i].byte_offset();
      add_value(value, inputs[i].storage);
      made.inputs[i] = next++;
    }
    for (const CustomValue& value : call.outputs()) {
      if (value.elements == 0) {
        results.push_back(make_tensor(context_, value.dtype, value.shape));
        made.results.push_back(-1);
        continue;
      }
      results.push_back(
          add_result(whole_value(value.dtype, value.shape, 0), value.shape));
      if (made.outputs[0] < 0) made.outputs[0] = next;
      made.results.push_back(next++);
    }
    made.custom = std::make_shared<const CustomCall>(std::move(call));
    recorded_.ops.push_back(std::move(made));
  });
  return results;
}

bool GraphRecording::is_result(const Tensor& tensor) const {
  const std::lock_guard lock(mutex_);
  const Base& base =
      recorded_.bases[static_cast<size_t>(tensor.storage->base())];
  return base.kind == Base::kResult && tensor.offset == 0 &&
         tensor.bytes() == value_bytes(base.whole, {}).value();
}

Recorded GraphRecording::recorded() const {
  const std::lock_guard lock(mutex_);
  return recorded_;
}

void GraphRecording::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  // Tensors may outlive the graph; what it holds shall not.
  recorded_ = {};
  constants_.clear();
}

}  // namespace rc::compute
