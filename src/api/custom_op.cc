#include "api/custom_op.h"

#include <algorithm>
#include <vector>

#include "api/graph.h"
#include "api/options.h"
#include "api/tensor.h"

using rc::api::guard;
using rc::api::need;
using rc::api::need_array;

namespace {
constexpr rc_custom_op_options kNoOptions = RC_CUSTOM_OP_OPTIONS_INIT;
}  // namespace

void rc_custom_op_options_init(rc_custom_op_options* options, size_t size) {
  rc::api::initialise(options, size, kNoOptions);
}

rc_status rc_custom_op_create(const rc_custom_op_options* options,
                              rc_custom_op** op) {
  return rc::api::guard_handle(op, "op", [&] {
    rc::api::need_pointer(options, "options");
    rc_custom_op_options given =
        rc::api::read_options(options, kNoOptions, "options");
    const auto release = given.release;
    given.release = nullptr;
    auto made = std::make_shared<rc::compute::CustomOp>(given);
    auto handle = std::unique_ptr<rc_custom_op>(new rc_custom_op{made});
    rc_custom_op* added = rc::api::add_handle(std::move(handle));
    // From here on nothing fails.
    made->release_with(release);
    return added;
  });
}

rc_status rc_custom_op_compute(rc_custom_op* op, rc_tensor* const* inputs,
                               size_t input_count, const double* attributes,
                               size_t attribute_count, rc_tensor** outputs,
                               size_t output_count) {
  return guard([&] {
    need_array(outputs, output_count, sizeof *outputs, "outputs");
    std::fill_n(outputs, output_count, nullptr);
    const std::shared_ptr<const rc::compute::CustomOp> held = need(op, "op").op;
    need_array(inputs, input_count, sizeof *inputs, "inputs");
    need_array(attributes, attribute_count, sizeof *attributes, "attributes");
    std::vector<rc::compute::Tensor> given;
    for (size_t i = 0; i < input_count; ++i) {
      const std::string name = rc::cat("inputs[", i, "]");
      const rc_tensor& tensor = need(inputs[i], name.c_str());
      if (tensor.target != nullptr) {
        rc::fail(RC_E_INVALID_ARGUMENT, held->name(), ": ", name,
                 " is an operand of rc_op_into; custom ops make new tensors");
      }
      given.push_back(tensor.tensor);
    }
    const size_t wanted = held->signature().output_count();
    if (output_count != wanted) {
      rc::fail(RC_E_INVALID_ARGUMENT, "output_count: ", output_count,
               ", but the op has ", wanted, " outputs");
    }
    const std::vector<rc_tensor*> made = rc::api::add_tensors(
        rc::compute::custom(*held, given, {attributes, attribute_count}));
    std::copy(made.begin(), made.end(), outputs);
  });
}

rc_custom_op* rc_custom_op_retain(rc_custom_op* op) {
  return rc::api::retain_handle(op, "op");
}

void rc_custom_op_release(rc_custom_op* op) {
  rc::api::release_handle(op, "op");
}
