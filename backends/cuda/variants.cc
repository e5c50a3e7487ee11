#include "cuda/variants.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "cuda/tuning.h"
#include "gpu/type_name.h"
#include "tensor/dtype.h"
#include "tensor/expand.h"

namespace rc::cuda {
namespace {

using gpu::Kernel;

// The open constants; is_open makes exceptions.
constexpr std::string_view kOpen[] = {
    "GROUP_ITEMS", "SLICES",   "HEAD",     "VALUE",
    "VALUE_STEP",  "STATE",    "WIDTH",    "GATHER",
    "CENTER",      "PER_ITEM", "FUNCTION", "EXPERT_GROUPS"};

// The number of a constant of the variant; 0 if the kernel has no such one.
uint32_t value_of(const gpu::Variant& variant, std::string_view name) {
  const gpu::ConstantNames& names = gpu::constant_names_of(variant.first);
  for (size_t i = 0; i < variant.second.size() && i < names.size(); ++i) {
    if (names[i] != nullptr && name == names[i]) return variant.second[i];
  }
  return 0;
}

bool is_by_matrices(const gpu::Variant& variant) {
  return value_of(variant, gpu::kWayConstant) == gpu::kByMatrices;
}

bool is_open(const gpu::Variant& variant, std::string_view name) {
  // The groups of tiles have a fixed size.
  if (name == "GROUP_ITEMS" &&
      (is_by_matrices(variant) || value_of(variant, "ROW_LANES") != 0)) {
    return false;
  }
  if (name == "KIND") return variant.first == Kernel::kElementwise;
  return std::find(std::begin(kOpen), std::end(kOpen), name) != std::end(kOpen);
}

// ---- The variants that ops ask for

using Fixed = std::initializer_list<std::pair<std::string_view, uint32_t>>;

class Lister {
 public:
  // `fixed` has every constant of the kernel that is not open, LANES aside.
  void add(Kernel kernel, Fixed fixed = {}) {
    const auto find = [&](const char* name) {
      return std::find_if(fixed.begin(), fixed.end(), [name](const auto& one) {
        return name != nullptr && one.first == name;
      });
    };
    gpu::Variant variant = {kernel, {}};
    for (const char* const name : gpu::constant_names_of(kernel)) {
      const auto given = find(name);
      variant.second.push_back(given != fixed.end() ? given->second : 1);
    }
    for (const char* const name : gpu::constant_names_of(kernel)) {
      if (name == nullptr || name == std::string_view(gpu::kLanesConstant) ||
          is_open(variant, name) || find(name) != fixed.end()) {
        continue;
      }
      fail(RC_E_INTERNAL, gpu::kernel_name(kernel), " has a constant ", name);
    }
    Compiled made = compiled(variant);
    Compilation one = {
        kernel,
        std::move(made.definitions),
        {},
        is_by_matrices(variant) ? kOfTensorCores : kLeastCapability};
    for (const OpenConstant& open : made.open) {
      one.open_names.push_back(open.name);
    }
    all_.push_back(std::move(one));
  }
  std::vector<Compilation> take() { return std::move(all_); }

 private:
  std::vector<Compilation> all_;
};

// The types that kernels decode.
std::vector<DType> decodable_types() {
  std::vector<DType> types;
  for (int32_t number = 0; number < 256; ++number) {
    const auto dtype = static_cast<DType>(number);
    const DTypeInfo* const info = dtype_info(dtype);
    if (info != nullptr && info->decodable) types.push_back(dtype);
  }
  return types;
}

// The types of weights on the device.
std::vector<DType> weight_types() {
  std::vector<DType> types;
  for (const DType dtype : decodable_types()) {
    const DType expanded = expanded_type(dtype);
    if (std::find(types.begin(), types.end(), expanded) == types.end()) {
      types.push_back(expanded);
    }
  }
  return types;
}

// Whether its elements have less than 32 bits, which products of matrices would
// round. Expanded types, of which dtype.h says nothing, have a few.
bool is_narrow(DType dtype) {
  const DTypeInfo* const info = dtype_info(dtype);
  return info == nullptr || info->block_bytes < 4 * info->block_size;
}

uint32_t number(DType dtype) { return static_cast<uint32_t>(dtype); }

void add_products_of_models(const streams::Tuning& tuning, Lister* list) {
  for (const DType dtype : weight_types()) {
    const uint32_t type = number(dtype);
    const uint32_t tile = tuning.tile;
    list->add(Kernel::kGetRows, {{"TILE", tile}, {"TYPE", type}});
    const auto linear = [&](uint32_t rows, uint32_t experts, uint32_t way) {
      list->add(Kernel::kLinear, {{"GROUP_ITEMS", gpu::kMatrixLanes},
                                  {"TILE", tile},
                                  {"TYPE", type},
                                  {"ROWS", rows},
                                  {"EXPERTS", experts},
                                  {"WAY", way}});
    };
    linear(1, 0, gpu::kByLanes);
    linear(tuning.batch, 0, gpu::kByLanes);
    linear(1, 1, gpu::kByLanes);
    if (is_narrow(dtype)) linear(1, 0, gpu::kByMatrices);
  }
}

void add_products_of_tensors(const streams::Tuning& tuning, Lister* list) {
  const uint32_t depth = tuning.product_depth;
  const uint32_t row_lanes = tuning.product_rows / 4;
  const uint32_t items = row_lanes * (tuning.product_columns / 4);
  const auto matmul = [&](DType dtype, uint32_t transposed) {
    const auto add = [&](uint32_t rows, uint32_t columns, uint32_t lanes) {
      list->add(Kernel::kMatmul, {{"GROUP_ITEMS", items},
                                  {"TYPE", number(dtype)},
                                  {"TRANSPOSED", transposed},
                                  {"ROWS", rows},
                                  {"COLUMNS", columns},
                                  {"ROW_LANES", lanes},
                                  {"DEPTH", depth}});
    };
    add(1, 1, 0);
    add(4, 1, 0);
    add(4, 4, row_lanes);
  };
  matmul(RC_DTYPE_F32, 0);
  for (const DType dtype : decodable_types()) matmul(dtype, 1);
  list->add(Kernel::kConv2d, {{"GROUP_ITEMS", items},
                              {"COLUMNS", 4},
                              {"ROW_LANES", row_lanes},
                              {"DEPTH", depth}});
}

void add_types(Lister* list) {
  for (const DType dtype : decodable_types()) {
    list->add(Kernel::kDecode, {{"TYPE", number(dtype)}});
    if (!encodable(dtype)) continue;
    const auto bytes = static_cast<uint32_t>(dtype_info(dtype)->block_bytes);
    list->add(Kernel::kEncode, {{"TYPE", number(dtype)}, {"UNIT", bytes}});
  }
}

void add_attention(Lister* list) {
  constexpr uint32_t kCacheTypes = 3;
  constexpr uint32_t kRanges = 4;
  for (uint32_t cache = 0; cache < kCacheTypes; ++cache) {
    list->add(Kernel::kCacheStore, {{"CACHE", cache}});
    for (uint32_t ranges = 1; ranges <= kRanges; ++ranges) {
      for (const uint32_t more : {0, 1}) {
        list->add(Kernel::kAttention,
                  {{"CACHE", cache}, {"RANGES", ranges}, {"MORE", more}});
      }
    }
  }
  list->add(Kernel::kAttend);
}

void add_states(const streams::Tuning& tuning, Lister* list) {
  const uint32_t parts = tuning.scan_parts;
  for (const Kernel kernel :
       {Kernel::kChannelScan, Kernel::kDeltaRule, Kernel::kSelectiveScan}) {
    list->add(kernel, {{"PARTS", parts}});
  }
  for (const uint32_t corrects : {0, 1}) {
    list->add(Kernel::kFadingState, {{"PARTS", parts}, {"CORRECTS", corrects}});
  }
  list->add(Kernel::kShortConv);
}

// See lines.cl: the last stage is of SOFTMAX alone, the last kind.
void add_lines(Lister* list) {
  constexpr uint32_t kKinds = 5;
  constexpr uint32_t kStages = 4;
  for (uint32_t kind = 0; kind < kKinds; ++kind) {
    const uint32_t stages = kind + 1 == kKinds ? kStages : kStages - 1;
    for (uint32_t stage = 0; stage < stages; ++stage) {
      for (const uint32_t together : {0, 1}) {
        list->add(Kernel::kLines,
                  {{"KIND", kind}, {"TOGETHER", together}, {"STAGE", stage}});
      }
    }
  }
}

}  // namespace

Compiled compiled(const gpu::Variant& variant) {
  const gpu::ConstantNames& names = gpu::constant_names_of(variant.first);
  Compiled made;
  made.definitions = "-DLANES=1";
  for (size_t i = 0; i < variant.second.size() && i < names.size(); ++i) {
    const uint32_t value = variant.second[i];
    if (names[i] == nullptr) continue;
    const std::string_view name = names[i];
    if (name == gpu::kLanesConstant) continue;  // 1
    if (name == gpu::kTypeConstant) {
      made.definitions +=
          cat(" -DTYPE_", gpu::type_name(static_cast<DType>(value)));
    } else if (is_open(variant, name)) {
      made.open.push_back({std::string(name), value});
    } else {
      made.definitions += cat(" -D", name, "=", value);
    }
  }
  return made;
}

std::vector<Compilation> compilations() {
  const streams::Tuning choices = tuning(kOfTensorCores);
  Lister list;
  for (const Kernel kernel :
       {Kernel::kAffine, Kernel::kChoose, Kernel::kCopyRows,
        Kernel::kElementwise, Kernel::kExpertSum, Kernel::kJoin,
        Kernel::kLayerNorm, Kernel::kRope, Kernel::kRoute, Kernel::kRowNorm,
        Kernel::kSparseMix, Kernel::kTensorRope, Kernel::kXielu}) {
    list.add(kernel);
  }
  for (const uint32_t broadcast : {0, 1}) {
    list.add(Kernel::kMap, {{"BROADCAST", broadcast}});
    list.add(Kernel::kWhere, {{"BROADCAST", broadcast}});
  }
  for (const uint32_t grain : {1, 2, 4}) {
    list.add(Kernel::kCopy, {{"GRAIN", grain}});
  }
  add_products_of_models(choices, &list);
  add_products_of_tensors(choices, &list);
  add_types(&list);
  add_attention(&list);
  add_states(choices, &list);
  add_lines(&list);
  return list.take();
}

}  // namespace rc::cuda
