#include "compute/custom/op.h"

#include <algorithm>
#include <cstdio>

#include "base/callback.h"
#include "base/error.h"
#include "compute/custom/glsl.h"

namespace rc::compute {
namespace {

constexpr uint32_t kMostGroupItems = 1024;

std::string need_name(const char* given) {
  const std::string name = given == nullptr ? "" : given;
  CustomText text("name", name);
  if (text.name("the name of the op") != name) {
    text.fail_here("letters, digits and '_' are possible, and not");
  }
  return name;
}

std::string_view optional_text(const char* text) {
  return text == nullptr ? std::string_view() : text;
}

const char* need_signature(const char* text) {
  if (text == nullptr) {
    fail(RC_E_INVALID_ARGUMENT, "options->signature: NULL");
  }
  return text;
}

std::optional<KernelBody> read_body(const char* body, const char* head,
                                    const char* option) {
  if (body == nullptr) {
    if (head != nullptr) {
      fail(RC_E_INVALID_ARGUMENT, "options->", option,
           "_head is given, but no options->", option);
    }
    return std::nullopt;
  }
  return KernelBody{body, head == nullptr ? "" : head};
}

}  // namespace

std::span<const CustomValue> CustomCall::inputs() const {
  return std::span(values).first(op->signature().input_count());
}

std::span<const CustomValue> CustomCall::outputs() const {
  return std::span(values).subspan(op->signature().input_count());
}

bool CustomCall::makes_nothing() const {
  return std::all_of(
      outputs().begin(), outputs().end(),
      [](const CustomValue& value) { return value.elements == 0; });
}

CustomOp::CustomOp(const rc_custom_op_options& options)
    : name_(need_name(options.name)),
      signature_(need_signature(options.signature),
                 optional_text(options.attributes)),
      function_(options.function),
      user_(options.user),
      items_(read_expressions("items", options.items, 1)),
      opencl_c_(read_body(options.opencl_c, options.opencl_c_head, "opencl_c")),
      glsl_(read_body(options.glsl, options.glsl_head, "glsl")),
      grid_(read_expressions("grid", options.grid, 3)) {
  const bool kernels = opencl_c_ || glsl_;
  if (!kernels && function_ == nullptr) {
    fail(RC_E_INVALID_ARGUMENT, "options: ", name_,
         " has neither a function nor a kernel (opencl_c, glsl)");
  }
  if (kernels && grid_.empty()) {
    fail(RC_E_INVALID_ARGUMENT, "options->grid: ", name_,
         " has a kernel, which needs the number of its work-items");
  }
  read_group(options.group);
}

CustomOp::~CustomOp() {
  for (const Compiled& one : compiled_) {
    if (const auto device = one.device.lock()) {
      device->destroy_kernel(one.kernel);
    }
  }
  if (release_ == nullptr) return;
  call_out(
      "rc_custom_op_options.release", [&] { release_(user_); },
      [](const char*) {});
}

std::vector<Expression> CustomOp::read_expressions(const char* option,
                                                   const char* given,
                                                   size_t most) const {
  std::vector<Expression> found;
  if (given == nullptr) return found;
  CustomText text(option, given);
  do {
    if (found.size() == most) {
      text.fail_here(cat(most == 1 ? "there is one expression"
                                   : "there are at most three expressions"));
    }
    found.emplace_back(text, signature_.names());
  } while (text.take(","));
  if (!text.at_end()) text.fail_here("\",\" is missing");
  return found;
}

void CustomOp::read_group(const char* given) {
  const size_t dimensions = grid_.size();
  if (given == nullptr) {
    const uint32_t side = dimensions == 3 ? 4 : dimensions == 2 ? 8 : 64;
    std::fill_n(group_.begin(), dimensions, side);
    return;
  }
  CustomText text("group", given);
  size_t count = 0;
  uint64_t items = 1;
  do {
    if (count == dimensions) {
      text.fail_here(cat("there are more numbers than the ", dimensions,
                         " of options->grid"));
    }
    const int64_t number = text.number();
    items *= static_cast<uint64_t>(number);
    if (items == 0 || items > kMostGroupItems) {
      text.fail_here(
          cat("a work-group has 1 to ", kMostGroupItems, " work-items"));
    }
    group_[count++] = static_cast<uint32_t>(number);
  } while (text.take(","));
  if (!text.at_end()) text.fail_here("\",\" is missing");
  if (count != dimensions) {
    text.fail_here(
        cat("options->grid has ", dimensions, " dimensions, this ", count));
  }
}

CustomCall CustomOp::call(std::span<const CustomValue> inputs,
                          std::span<const double> attributes) const {
  CustomCall made;
  CustomSignature::Resolved resolved =
      signature_.resolve(name_, inputs, attributes);
  made.op = shared_from_this();
  made.values = std::move(resolved.values);
  made.numbers = std::move(resolved.numbers);
  made.attributes.assign(attributes.begin(), attributes.end());
  return made;
}

std::string CustomOp::lacking_kernel(int32_t language) const {
  switch (language) {
    case RC_KERNEL_OPENCL_C:
      return opencl_c_ ? "" : "it has no kernel in OpenCL C";
    case RC_KERNEL_SPIRV:
      return glsl_ ? lacking_glsl_compiler() : "it has no kernel in GLSL";
    default:
      return "the device takes no kernels";
  }
}

rc_plugin_kernel* CustomOp::kernel(
    const std::shared_ptr<runtime::Device>& device, int32_t language,
    std::span<const CustomValue> values) const {
  std::vector<DType> types;
  for (const CustomValue& value : values) types.push_back(value.dtype);
  const std::lock_guard lock(mutex_);
  std::erase_if(compiled_,
                [](const Compiled& one) { return one.device.expired(); });
  for (const Compiled& one : compiled_) {
    if (one.types == types && one.device.lock() == device) return one.kernel;
  }
  rc_plugin_kernel_info info = {};
  info.name = name_.c_str();
  info.buffer_count = static_cast<uint32_t>(values.size());
  info.input_count = static_cast<uint32_t>(signature_.input_count());
  info.parameter_words =
      static_cast<uint32_t>(signature_.dimension_count() +
                            signature_.attributes().size() + values.size());
  std::copy(group_.begin(), group_.end(), info.group);
  std::string text;
  std::vector<uint32_t> words;
  if (language == RC_KERNEL_SPIRV) {
    words = compile_glsl(name_,
                         glsl_text(name_, *glsl_, signature_, types, group_));
    info.source = words.data();
    info.source_bytes = words.size() * sizeof(uint32_t);
  } else {
    text = opencl_c_text(name_, *opencl_c_, signature_, types, group_);
    info.source = text.data();
    info.source_bytes = text.size();
  }
  compiled_.reserve(compiled_.size() + 1);
  try {
    compiled_.push_back({device, types, device->create_kernel(info)});
  } catch (const Error& error) {
    if (error.status() != RC_E_FORMAT) throw;
    fail(RC_E_FORMAT, error.message(),
         where_lines_begin(name_, text, error.message()));
  }
  return compiled_.back().kernel;
}

std::array<uint32_t, 3> CustomOp::groups(const CustomCall& call) const {
  constexpr int64_t kMost = INT32_MAX;
  std::array<uint32_t, 3> found = {1, 1, 1};
  for (size_t i = 0; i < grid_.size(); ++i) {
    const int64_t count =
        grid_[i].evaluate(call.numbers, cat(name_, ": options->grid"));
    if (count < 0 || count > kMost) {
      fail(RC_E_INVALID_ARGUMENT, name_, ": options->grid gives ", count,
           " work-items in dimension ", i, "; 0 to ", kMost, " are possible");
    }
    found[i] = static_cast<uint32_t>((count + group_[i] - 1) / group_[i]);
  }
  return found;
}

int64_t CustomOp::items(const CustomCall& call) const {
  if (items_.empty()) return 1;
  const int64_t count =
      items_[0].evaluate(call.numbers, cat(name_, ": options->items"));
  if (count < 0) {
    fail(RC_E_INVALID_ARGUMENT, name_, ": options->items gives ", count,
         " items");
  }
  return count;
}

rc_status CustomOp::compute(const rc_custom_call& call, char* message) const {
  rc_status status = RC_E_INTERNAL;
  call_out(
      "rc_custom_op_options.function",
      [&] { status = function_(user_, &call, message); },
      [&](const char* why) {
        status = RC_E_INTERNAL;
        std::snprintf(message, RC_OP_BACKEND_MESSAGE_BYTES, "%s", why);
      });
  return status;
}

}  // namespace rc::compute
