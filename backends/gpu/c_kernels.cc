#include "gpu/c_kernels.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/error.h"
#include "gpu/tuning.h"
#include "gpu/type_name.h"

namespace rc::gpu {
namespace {

// Whether its work-items take one element at a time.
bool is_scalar(Kernel kernel) {
  return kernel == Kernel::kDecode || kernel == Kernel::kEncode ||
         kernel == Kernel::kGetRows || kernel == Kernel::kJoin;
}

}  // namespace

std::string c_definitions(const Variant& variant, uint32_t vector) {
  const ConstantNames& names = constant_names_of(variant.first);
  std::string text;
  uint32_t lanes = is_scalar(variant.first) ? 1 : vector;
  for (size_t i = 0; i < variant.second.size(); ++i) {
    const char* name = i < names.size() ? names[i] : nullptr;
    if (name == nullptr) continue;
    if (std::string_view(name) == kLanesConstant) {
      lanes = variant.second[i];
    } else if (std::string_view(name) == kWayConstant) {
      // Products of matrices read a row of the weight for each work-item.
      if (variant.second[i] == kByMatrices) lanes = 1;
      text += cat(" -D", name, "=", variant.second[i]);
    } else if (std::string_view(name) == kTypeConstant) {
      text += cat(" -DTYPE_", type_name(static_cast<DType>(variant.second[i])));
    } else {
      text += cat(" -D", name, "=", variant.second[i]);
    }
  }
  return cat(" -DLANES=", lanes, text);
}

bool c_divides_exactly(Kernel kernel) { return kernel == Kernel::kEncode; }

CCall c_call(const Dispatch& dispatch, const Region& counts,
             const Region& fault) {
  std::vector<Binding> bindings;
  std::copy_if(dispatch.bindings.begin(), dispatch.bindings.end(),
               std::back_inserter(bindings),
               [](const Binding& binding) { return !binding.quads; });
  if (slots_of(dispatch.kernel).fault) bindings.push_back({kFaultSlot, fault});
  std::sort(bindings.begin(), bindings.end(),
            [](const Binding& a, const Binding& b) { return a.slot < b.slot; });
  CCall call = {{counts}, {counts.offset}};
  for (const Binding& binding : bindings) {
    call.buffers.push_back(binding.region);
    call.places_and_parameters.push_back(binding.region.offset);
  }
  // Pairs of parameters, the first in the lower half.
  for (size_t i = 0; i < dispatch.parameters.size(); ++i) {
    const uint64_t parameter = dispatch.parameters[i];
    if (i % 2 == 0) {
      call.places_and_parameters.push_back(parameter);
    } else {
      call.places_and_parameters.back() |= parameter << 32;
    }
  }
  return call;
}

}  // namespace rc::gpu
