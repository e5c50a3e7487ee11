#include "cuda/variants.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "gpu/type_name.h"
#include "tensor/dtype.h"
#include "tensor/expand.h"

namespace rc::cuda {
namespace {

using gpu::Kernel;

constexpr const char* kVariable = "RUNCIBLE_CUDA_TUNING";

// The open constants; is_open makes exceptions.
constexpr std::string_view kOpen[] = {
    "GROUP_ITEMS", "SLICES",   "HEAD",     "VALUE",
    "VALUE_STEP",  "STATE",    "WIDTH",    "GATHER",
    "CENTER",      "PER_ITEM", "FUNCTION", "EXPERT_GROUPS"};

bool is_by_matrices(Kernel kernel, const std::vector<uint32_t>& constants) {
  constexpr size_t kWay = 9;
  return kernel == Kernel::kLinear && constants[kWay] == gpu::kByMatrices;
}

// A product in tiles; its groups have a fixed size.
bool is_tiled(Kernel kernel, const std::vector<uint32_t>& constants) {
  constexpr size_t kRowLanes = 8;
  return kernel == Kernel::kConv2d || is_by_matrices(kernel, constants) ||
         (kernel == Kernel::kMatmul && constants[kRowLanes] != 0);
}

bool is_open(const gpu::Variant& variant, std::string_view name) {
  const auto& [kernel, constants] = variant;
  if (name == "GROUP_ITEMS" && is_tiled(kernel, constants)) return false;
  if (name == "KIND") return kernel == Kernel::kElementwise;
  return std::find(std::begin(kOpen), std::end(kOpen), name) != std::end(kOpen);
}

// ---- The variants that ops ask for ------------------------------------------

class Lister {
 public:
  // Constants by number, without those at the end that the dialect ignores.
  void add(Kernel kernel, std::vector<uint32_t> constants) {
    const gpu::Variant variant = {kernel, std::move(constants)};
    Compiled made = compiled(variant);
    Compilation one = {kernel,
                       std::move(made.definitions),
                       is_by_matrices(kernel, variant.second)
                           ? kOfTensorCores
                           : kLeastCapability,
                       {}};
    for (const OpenConstant& open : made.open) {
      one.open_names.push_back(open.name);
    }
    const auto equal = [&one](const Compilation& other) {
      return other.kernel == one.kernel && other.definitions == one.definitions;
    };
    if (std::none_of(all_.begin(), all_.end(), equal)) {
      all_.push_back(std::move(one));
    }
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

uint32_t number(DType dtype) { return static_cast<uint32_t>(dtype); }

void add_products(const gpu::Tuning& tuning, Lister* list) {
  for (const DType dtype : weight_types()) {
    const uint32_t type = number(dtype);
    list->add(Kernel::kGetRows, {1, tuning.tile, type});
    const auto linear = [&](uint32_t rows, uint32_t experts) {
      list->add(Kernel::kLinear, {1, tuning.tile, type, rows, 0, experts, 0, 0,
                                  1, gpu::kByLanes});
    };
    linear(1, 0);
    linear(tuning.batch, 0);
    linear(1, 1);
    // Weights that have 32 bits would lose some.
    if (dtype == RC_DTYPE_F32 || dtype == RC_DTYPE_F64) continue;
    list->add(Kernel::kLinear, {gpu::kMatrixLanes, tuning.tile, type, 1, 0, 0,
                                0, 0, 4, gpu::kByMatrices});
  }
  const uint32_t tile_items =
      tuning.product_rows / 4 * (tuning.product_columns / 4);
  const auto matmul = [&](uint32_t type, uint32_t transposed) {
    const auto add = [&](uint32_t items, uint32_t rows, uint32_t columns,
                         uint32_t row_lanes) {
      list->add(Kernel::kMatmul,
                {items, type, 0, 0, transposed, 0, rows, columns, row_lanes, 0,
                 1, tuning.product_depth});
    };
    add(1, 1, 1, 0);
    add(1, 4, 1, 0);
    add(tile_items, 4, 4, tuning.product_rows / 4);
  };
  matmul(number(RC_DTYPE_F32), 0);
  for (const DType dtype : decodable_types()) matmul(number(dtype), 1);
  list->add(Kernel::kConv2d,
            {tile_items, 4, tuning.product_rows / 4, tuning.product_depth});
}

void add_types(Lister* list) {
  for (const DType dtype : decodable_types()) {
    list->add(Kernel::kDecode, {1, number(dtype), 0, 0, 0, 1});
    if (!encodable(dtype)) continue;
    list->add(Kernel::kEncode,
              {1, number(dtype), 0,
               static_cast<uint32_t>(dtype_info(dtype)->block_bytes)});
  }
}

void add_attention(Lister* list) {
  constexpr uint32_t kCacheTypes = 3;
  constexpr uint32_t kRanges = 4;
  for (uint32_t cache = 0; cache < kCacheTypes; ++cache) {
    list->add(Kernel::kCacheStore, {1, cache});
    for (uint32_t ranges = 1; ranges <= kRanges; ++ranges) {
      for (const uint32_t more : {0, 1}) {
        list->add(Kernel::kAttention, {1, cache, 1, ranges, 1, 1, more});
      }
    }
  }
  list->add(Kernel::kAttend, {1, 1});
}

}  // namespace

Tuning tuning(int capability) {
  Tuning tuning;
  tuning.few = 4;
  tuning.reduce = 128;
  tuning.attention = 32;
  tuning.product_lanes = 32;
  tuning.product_rows = tuning.product_columns = 64;
  tuning.product_depth = 32;
  tuning.each = 1;
  tuning.decode_each = 64;
  tuning.line_part = 4096;
  // Wide products have enough to do.
  tuning.batch_parts = 1;
  tuning.route = 1;
  // Results of ATTENTION, and two numbers of each item.
  tuning.local_bytes = (kResultsRoom + 2 * kGroupRoom) * sizeof(float);
  // The limit of grids.
  tuning.groups = 65535;
  // As many rows as a group takes.
  if (capability >= kOfTensorCores) tuning.matrices = gpu::kMatrixRows;
  if (const char* const text = std::getenv(kVariable)) {
    const uint32_t most_parts = kGroupRoom / tuning.tile;
    gpu::apply_choices(kVariable, text,
                       {{"few", &tuning.few, 1, UINT32_MAX},
                        {"parts", &tuning.parts, 1, most_parts},
                        {"matrices", &tuning.matrices, 0, UINT32_MAX},
                        {"attention", &tuning.attention, 1, kGroupRoom},
                        {"reduce", &tuning.reduce, 1, kGroupRoom},
                        {"graphs", &tuning.graphs, 0, 1}});
  }
  if (capability < kOfTensorCores) tuning.matrices = 0;
  // Kernels count bytes of what is bound in 32 bits, to the end of the last
  // group, which has less than these.
  constexpr uint32_t kGroupBytes = 16 << 20;
  tuning.range = UINT32_MAX - kGroupBytes;
  return tuning;
}

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
  const Tuning choices = tuning(kOfTensorCores);
  Lister list;
  for (const Kernel kernel :
       {Kernel::kAffine, Kernel::kCopyRows, Kernel::kExpertSum, Kernel::kJoin,
        Kernel::kLayerNorm, Kernel::kRope, Kernel::kRoute, Kernel::kSparseMix,
        Kernel::kTensorRope, Kernel::kXielu}) {
    list.add(kernel, {1});
  }
  add_products(choices, &list);
  add_types(&list);
  add_attention(&list);
  for (const Kernel kernel :
       {Kernel::kChannelScan, Kernel::kDeltaRule, Kernel::kSelectiveScan}) {
    list.add(kernel, {1, 1, choices.scan_parts});
  }
  for (const uint32_t yes : {0, 1}) {
    list.add(Kernel::kFadingState, {1, 1, choices.scan_parts, yes});
    list.add(Kernel::kMap, {1, 0, yes});
    list.add(Kernel::kWhere, {1, yes});
  }
  list.add(Kernel::kChoose, {1, 1});
  list.add(Kernel::kElementwise, {1, 0});
  list.add(Kernel::kRowNorm, {1, 0});
  list.add(Kernel::kShortConv, {1, 1, 0});
  for (const uint32_t grain : {1, 2, 4}) list.add(Kernel::kCopy, {1, grain});
  // See lines.cl: the last stage is of SOFTMAX alone, the last kind.
  constexpr uint32_t kKinds = 5;
  constexpr uint32_t kStages = 4;
  for (uint32_t kind = 0; kind < kKinds; ++kind) {
    const uint32_t stages = kind + 1 == kKinds ? kStages : kStages - 1;
    for (uint32_t stage = 0; stage < stages; ++stage) {
      list.add(Kernel::kLines, {1, kind, 0, stage, 1});
      list.add(Kernel::kLines, {1, kind, 1, stage, 1});
    }
  }
  return list.take();
}

}  // namespace rc::cuda
