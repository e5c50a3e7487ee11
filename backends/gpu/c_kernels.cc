#include "gpu/c_kernels.h"

#include <array>

#include "base/error.h"
#include "tensor/dtype.h"

namespace rc::gpu {
namespace {

// In the order of Variant. nullptr: the dialect has no use for the constant.
using Constants = std::array<const char*, 10>;

constexpr const char* kItems = "GROUP_ITEMS";
// Is a type, not a number.
constexpr const char* kType = "TYPE";

Constants constants_of(Kernel kernel) {
  switch (kernel) {
    case Kernel::kAttention:
      return {kItems, "CACHE", "HEAD", "RANGES"};
    case Kernel::kCacheStore:
      return {kItems, "CACHE"};
    case Kernel::kCopyRows:
      return {kItems};
    case Kernel::kElementwise:
      return {kItems, "KIND"};
    case Kernel::kExpertSum:
      return {kItems};
    case Kernel::kGetRows:
      return {kItems, "TILE", kType};
    case Kernel::kLinear:
      return {kItems,    "TILE",  kType,   "ROWS",  nullptr,
              "EXPERTS", nullptr, nullptr, "SLICES"};
    case Kernel::kRope:
      return {kItems};
    case Kernel::kRoute:
      return {kItems};
    case Kernel::kRowNorm:
      return {kItems, "CENTER"};
    case Kernel::kSelectiveScan:
      return {kItems, "STATE", "PARTS"};
    case Kernel::kShortConv:
      return {kItems, "WIDTH", "FUNCTION"};
    default:
      fail(RC_E_INTERNAL, "kernel ", kernel_name(kernel),
           " is not in the C dialect");
  }
}

}  // namespace

std::string c_definitions(const Variant& variant) {
  const Constants constants = constants_of(variant.first);
  std::string text;
  for (size_t i = 0; i < variant.second.size(); ++i) {
    const char* name = i < constants.size() ? constants[i] : nullptr;
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
