// Custom ops: what the caller described, checked, and calls of it. See
// custom_op.h of the public headers. Immutable but for the kernels that devices
// have compiled; thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compute/custom/kernel_text.h"
#include "compute/custom/signature.h"
#include "compute/tensor.h"
#include "runcible/custom_op.h"

namespace rc::compute {

class CustomOp;

// The operands and results of one call of an op.
struct CustomCall {
  std::shared_ptr<const CustomOp> op;
  std::vector<CustomValue> values;  // inputs, then outputs
  std::vector<int64_t> numbers;     // of the names
  std::vector<double> attributes;

  std::span<const CustomValue> inputs() const;
  std::span<const CustomValue> outputs() const;
  bool makes_nothing() const;
};

class CustomOp : public std::enable_shared_from_this<CustomOp> {
 public:
  // Throws RC_E_INVALID_ARGUMENT.
  explicit CustomOp(const rc_custom_op_options& options);
  ~CustomOp();
  CustomOp(const CustomOp&) = delete;
  CustomOp& operator=(const CustomOp&) = delete;

  // Sets the function that is called at the end; until then the caller keeps
  // the op.
  void release_with(void (*release)(void* user)) { release_ = release; }

  const std::string& name() const { return name_; }
  const CustomSignature& signature() const { return signature_; }

  // Checks what is given against the signature.
  CustomCall call(std::span<const CustomValue> inputs,
                  std::span<const double> attributes) const;

  // "" if it has a kernel for such a device, else why not.
  std::string lacking_kernel(int32_t language) const;
  // That of the device for tensors of these types, compiled now if need be.
  rc_plugin_kernel* kernel(const std::shared_ptr<runtime::Device>& device,
                           int32_t language,
                           std::span<const CustomValue> values) const;
  // The work-groups of a call.
  std::array<uint32_t, 3> groups(const CustomCall& call) const;

  bool has_function() const { return function_ != nullptr; }
  // Returns the number of items that the function has to compute.
  int64_t items(const CustomCall& call) const;
  // Calls the function for some of them. What it throws is a status, too.
  rc_status compute(const rc_custom_call& call, char* message) const;

 private:
  struct Compiled {
    std::weak_ptr<runtime::Device> device;
    std::vector<DType> types;
    rc_plugin_kernel* kernel;
  };

  void read_group(const char* text);
  std::vector<Expression> read_expressions(const char* option, const char* text,
                                           size_t most) const;

  const std::string name_;
  const CustomSignature signature_;
  const rc_custom_function function_;
  void* const user_;
  void (*release_)(void* user) = nullptr;
  std::vector<Expression> items_;  // none, or one
  std::optional<KernelBody> opencl_c_;
  std::optional<KernelBody> glsl_;
  std::vector<Expression> grid_;
  GroupSize group_ = {1, 1, 1};

  mutable std::mutex mutex_;  // while compiling, too
  mutable std::vector<Compiled> compiled_;
};

// The way to compute a call on the device of a context.
struct CustomWay {
  rc_plugin_kernel* kernel = nullptr;  // else the function
  int32_t language = RC_KERNEL_NONE;
  // Where the function runs, if not in the memory of the context's device.
  std::shared_ptr<runtime::Device> elsewhere;
};
// Compiles the kernel. Throws RC_E_UNSUPPORTED if there is no way.
CustomWay way_of(const CustomCall& call, Context& context);

// A request to end a call early.
struct CustomStop {
  int32_t (*wanted)(void* user) = nullptr;
  void* user = nullptr;
};
// Computes a call of dense tensors on the device of the context; one without
// elements has no memory. `spent_ns` gets the time of devices added.
void compute_custom(const CustomCall& call, const CustomWay& way,
                    const std::shared_ptr<Context>& context,
                    std::span<const Tensor> inputs,
                    std::span<const Tensor> outputs, const CustomStop& stop,
                    int64_t timeout_ms, int64_t& spent_ns);

// Computes or records the op; see rc_custom_op_compute.
std::vector<Tensor> custom(const CustomOp& op, std::span<const Tensor> inputs,
                           std::span<const double> attributes);

}  // namespace rc::compute
