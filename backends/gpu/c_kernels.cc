#include "gpu/c_kernels.h"

#include <array>

#include "base/error.h"
#include "tensor/dtype.h"

namespace rc::gpu {
namespace {

// nullptr: the dialect has no use for the constant.
struct CKernel {
  const char* name = nullptr;
  std::array<const char*, 10> constants = {};
};

constexpr const char* kItems = "GROUP_ITEMS";
// Is a type, not a number.
constexpr const char* kType = "TYPE";

constexpr CKernel find(Kernel kernel) {
  switch (kernel) {
    case Kernel::kAttention:
      return {"attention", {kItems, "CACHE", "HEAD", "RANGES"}};
    case Kernel::kCacheStore:
      return {"cache_store", {kItems, "CACHE"}};
    case Kernel::kCopyRows:
      return {"copy_rows", {kItems}};
    case Kernel::kElementwise:
      return {"elementwise", {kItems, "KIND"}};
    case Kernel::kExpertSum:
      return {"expert_sum", {kItems}};
    case Kernel::kGetRows:
      return {"get_rows", {kItems, "TILE", kType}};
    case Kernel::kLinear:
      return {"linear",
              {kItems, "TILE", kType, "ROWS", nullptr, "EXPERTS", nullptr,
               nullptr, "SLICES"}};
    case Kernel::kRope:
      return {"rope", {kItems}};
    case Kernel::kRoute:
      return {"route", {kItems}};
    case Kernel::kRowNorm:
      return {"row_norm", {kItems, "CENTER"}};
    case Kernel::kSelectiveScan:
      return {"selective_scan", {kItems, "STATE", "PARTS"}};
    case Kernel::kShortConv:
      return {"short_conv", {kItems, "WIDTH", "FUNCTION"}};
    default:
      return {};
  }
}

}  // namespace

const char* c_name(Kernel kernel) {
  const char* name = find(kernel).name;
  if (name == nullptr) {
    fail(RC_E_INTERNAL, "kernel number ", static_cast<int>(kernel),
         " is not in the C dialect");
  }
  return name;
}

std::string c_definitions(const Variant& variant) {
  const CKernel kernel = find(variant.first);
  std::string text;
  for (size_t i = 0; i < variant.second.size(); ++i) {
    const char* name =
        i < kernel.constants.size() ? kernel.constants[i] : nullptr;
    if (name == nullptr) continue;
    if (name == kType) {
      text +=
          cat(" -DTYPE_", dtype_name(static_cast<DType>(variant.second[i])));
    } else {
      text += cat(" -D", name, "=", variant.second[i]);
    }
  }
  return text;
}

bool c_is_scalar(Kernel kernel) { return kernel == Kernel::kGetRows; }

}  // namespace rc::gpu
