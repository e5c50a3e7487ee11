// Ops on tensors of zeros that are taken, or refused with a message.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tensor_util.h"

namespace rc::test {

inline const char* const kTaken = "";

class TensorErrors : public testing::Test {
 protected:
  // Returns a tensor of zeros that lives as long as the test.
  rc_tensor* zeros(const Shape& shape, rc_dtype dtype = RC_DTYPE_F32) {
    rc_tensor* tensor = nullptr;
    EXPECT_OK(rc_tensor_create(backend_.get(), dtype, shape.data(),
                               static_cast<int32_t>(shape.size()), &tensor));
    return keep(tensor);
  }
  rc_tensor* places(const Shape& shape) { return zeros(shape, RC_DTYPE_I32); }
  rc_tensor* outline(const Shape& shape) {
    rc_tensor* tensor = nullptr;
    EXPECT_OK(rc_tensor_outline(backend_.get(), RC_DTYPE_F32, shape.data(),
                                static_cast<int32_t>(shape.size()), &tensor));
    return keep(tensor);
  }
  rc_tensor* keep(rc_tensor* tensor) {
    kept_.emplace_back(tensor);
    return tensor;
  }

  // kTaken, or a part of the message.
  void expect(const std::string& text,
              const std::function<rc_status(rc_tensor**)>& op) {
    rc_tensor* result = nullptr;
    const rc_status status = op(&result);
    if (text.empty()) {
      EXPECT_EQ(status, RC_OK) << rc_error_message();
    } else {
      const std::string message = rc_error_message();
      EXPECT_STREQ(rc_status_name(status), "RC_E_INVALID_ARGUMENT") << text;
      EXPECT_NE(message.find(text), std::string::npos)
          << message << "\ndoes not contain " << text;
      EXPECT_EQ(result, nullptr);
    }
    rc_tensor_release(result);
  }

  const Backend backend_ = open_backend();

 private:
  std::vector<Tensor> kept_;
};

}  // namespace rc::test
