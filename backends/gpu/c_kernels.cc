#include "gpu/c_kernels.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/error.h"
#include "tensor/dtype.h"
#include "tensor/formats/formats.h"

namespace rc::gpu {
namespace {

// In the order of Variant. nullptr: the dialect has no use for the constant.
using Constants = std::array<const char*, 12>;

constexpr const char* kItems = "GROUP_ITEMS";
constexpr const char* kLanes = "LANES";
// Is a type, not a number.
constexpr const char* kType = "TYPE";

// Whether its work-items take one element at a time.
bool is_scalar(Kernel kernel) {
  return kernel == Kernel::kDecode || kernel == Kernel::kEncode ||
         kernel == Kernel::kGetRows || kernel == Kernel::kJoin;
}

Constants constants_of(Kernel kernel) {
  switch (kernel) {
    case Kernel::kAffine:
      return {kItems};
    case Kernel::kAttend:
      return {kItems, "HEAD"};
    case Kernel::kAttention:
      return {kItems, "CACHE", "HEAD", "RANGES", "VALUE", "VALUE_STEP", "MORE"};
    case Kernel::kCacheStore:
      return {kItems, "CACHE"};
    case Kernel::kChannelScan:
    case Kernel::kDeltaRule:
      return {kItems, "STATE", "PARTS"};
    case Kernel::kChoose:
      return {kItems, "EXPERT_GROUPS"};
    case Kernel::kConv2d:
      return {kItems, "COLUMNS", "ROW_LANES", "DEPTH"};
    case Kernel::kCopy:
      return {kItems, "GRAIN"};
    case Kernel::kCopyRows:
      return {kItems};
    case Kernel::kDecode:
      return {kItems, kType, nullptr, nullptr, "GATHER", "PER_ITEM"};
    case Kernel::kElementwise:
      return {kItems, "KIND"};
    case Kernel::kEncode:
      return {kItems, kType, nullptr, "UNIT"};
    case Kernel::kExpertSum:
      return {kItems};
    case Kernel::kFadingState:
      return {kItems, "STATE", "PARTS", "CORRECTS"};
    case Kernel::kGetRows:
      return {kItems, "TILE", kType};
    case Kernel::kJoin:
    case Kernel::kLayerNorm:
      return {kItems};
    case Kernel::kLinear:
      return {kItems,    "TILE",  kType,   "ROWS",  nullptr,
              "EXPERTS", nullptr, nullptr, "SLICES"};
    case Kernel::kLines:
      return {kItems, "KIND", "TOGETHER", "STAGE", kLanes};
    case Kernel::kMap:
      return {kItems, "FUNCTION", "BROADCAST"};
    case Kernel::kMatmul:
      return {kItems, kType,     nullptr,     nullptr, "TRANSPOSED", "FUNCTION",
              "ROWS", "COLUMNS", "ROW_LANES", nullptr, kLanes,       "DEPTH"};
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
    case Kernel::kSparseMix:
      return {kItems};
    case Kernel::kTensorRope:
      return {kItems};
    case Kernel::kWhere:
      return {kItems, "BROADCAST"};
    case Kernel::kXielu:
      return {kItems};
    case Kernel::kCount:
      break;
  }
  return {};
}

// As formats.cl has it.
const char* name_of_type(DType dtype) {
  const BlockFormat* format = find_block_format(dtype);
  return format != nullptr ? format->name : dtype_name(dtype);
}

}  // namespace

std::string c_definitions(const Variant& variant, uint32_t vector) {
  const Constants constants = constants_of(variant.first);
  std::string text;
  uint32_t lanes = is_scalar(variant.first) ? 1 : vector;
  for (size_t i = 0; i < variant.second.size(); ++i) {
    const char* name = i < constants.size() ? constants[i] : nullptr;
    if (name == nullptr) continue;
    if (name == kLanes) {
      lanes = variant.second[i];
    } else if (name == kType) {
      text +=
          cat(" -DTYPE_", name_of_type(static_cast<DType>(variant.second[i])));
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
