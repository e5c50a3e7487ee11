// Calls of every function that makes a tensor, with results above the memory
// limit of their backend handle.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "api/tensor_util.h"

namespace rc::test {

inline constexpr uint64_t kLimit = uint64_t{16} << 20;

enum class Kind {
  kNumbers,       // all operands have numbers
  kOutlines,      // none has
  kFirstOutline,  // the others have, in types that ops convert
};

using Call = std::function<rc_status(rc_tensor** result)>;

// Makes the operands of one call, and keeps them.
class Operands {
 public:
  explicit Operands(Kind kind) : kind_(kind) {
    rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
    options.threads = 1;
    options.memory_limit = kLimit;
    rc_backend* opened = nullptr;
    EXPECT_OK(rc_backend_open("cpu", &options, &opened));
    backend_.reset(opened);
  }

  rc_backend* backend() const { return backend_.get(); }
  size_t count() const { return tensors_.size(); }

  rc_tensor* make(const Shape& shape, rc_dtype dtype) {
    const bool outline = kind_ == Kind::kOutlines ||
                         (kind_ == Kind::kFirstOutline && tensors_.empty());
    const auto rank = static_cast<int32_t>(shape.size());
    rc_tensor* made = nullptr;
    EXPECT_OK(
        outline
            ? rc_tensor_outline(backend(), dtype, shape.data(), rank, &made)
            : rc_tensor_create(backend(), dtype, shape.data(), rank, &made));
    return keep(made);
  }
  // F32, or F16 where an op has to convert it.
  rc_tensor* floats(const Shape& shape) {
    const bool other = kind_ == Kind::kFirstOutline && !tensors_.empty();
    return make(shape, other ? RC_DTYPE_F16 : RC_DTYPE_F32);
  }
  rc_tensor* keep(rc_tensor* tensor) {
    tensors_.emplace_back(tensor);
    return tensor;
  }

 private:
  const Kind kind_;
  Backend backend_;
  std::vector<Tensor> tensors_;
};

enum class Takes { kMemory, kNothing };

struct Case {
  std::function<Call(Operands& operands)> prepare;
  // kNothing: what it makes shares the memory of another, or has none.
  Takes takes = Takes::kMemory;
};

// By the name of the function, and of the case if it has several.
std::map<std::string, Case> tensor_limit_cases();

}  // namespace rc::test
