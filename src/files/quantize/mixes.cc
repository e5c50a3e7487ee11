#include "files/quantize/mixes.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/error.h"
#include "base/quote.h"
#include "files/quantize/mix_list.h"

namespace rc::quantize {

namespace {

// Of about as many bits, for rows that are no whole blocks.
constexpr std::pair<DType, DType> kFallbacks[] = {
    {RC_DTYPE_Q2_K, RC_DTYPE_IQ4_NL},    {RC_DTYPE_Q3_K, RC_DTYPE_IQ4_NL},
    {RC_DTYPE_IQ4_XS, RC_DTYPE_IQ4_NL},  {RC_DTYPE_IQ3_S, RC_DTYPE_IQ4_NL},
    {RC_DTYPE_IQ3_XXS, RC_DTYPE_IQ4_NL}, {RC_DTYPE_IQ2_S, RC_DTYPE_IQ4_NL},
    {RC_DTYPE_IQ2_XS, RC_DTYPE_IQ4_NL},  {RC_DTYPE_IQ2_XXS, RC_DTYPE_IQ4_NL},
    {RC_DTYPE_IQ1_M, RC_DTYPE_IQ4_NL},   {RC_DTYPE_IQ1_S, RC_DTYPE_IQ4_NL},
    {RC_DTYPE_NVFP4, RC_DTYPE_IQ4_NL},   {RC_DTYPE_Q4_K, RC_DTYPE_Q5_0},
    {RC_DTYPE_Q5_K, RC_DTYPE_Q5_1},      {RC_DTYPE_Q6_K, RC_DTYPE_Q8_0},
    {RC_DTYPE_TQ1_0, RC_DTYPE_Q4_0},     {RC_DTYPE_TQ2_0, RC_DTYPE_Q4_0}};

struct RoleName {
  std::string_view part;
  Role role;
};
constexpr RoleName kRoleNames[] = {
    {"attn_qkv.", Role::kFused},
    {"attn_q.", Role::kQuery},
    {"attn_k.", Role::kKey},
    {"attn_v.", Role::kValue},
    {"attn_kv_b.", Role::kValue},
    {"attn_output.", Role::kAttentionOutput},
    {"attn_o.", Role::kAttentionOutput},
    {"ffn_down", Role::kDown},
    {"ffn_up", Role::kUp},
    {"ffn_gate", Role::kGate},
};

bool is_float(DType dtype) {
  return dtype == RC_DTYPE_F32 || dtype == RC_DTYPE_F16 ||
         dtype == RC_DTYPE_BF16 || dtype == RC_DTYPE_F64;
}

double bits_of(DType dtype) {
  const DTypeInfo* info = dtype_info(dtype);
  return 8.0 * static_cast<double>(info->block_bytes) /
         static_cast<double>(info->block_size);
}

// Whether a matrix is more than a product: small, and of much effect.
bool is_delicate(std::string_view name) {
  if (!name.ends_with(".weight")) return true;
  for (const std::string_view product :
       {"ssm_in.weight", "ssm_out.weight", "time_mix_key.weight",
        "time_mix_value.weight", "time_mix_receptance.weight",
        "time_mix_gate.weight", "time_mix_output.weight"}) {
    if (name.ends_with(product)) return false;
  }
  constexpr std::string_view kParts[] = {
      "ffn_gate_inp", "ssm_",           "position_embd", "token_types",
      "norm",         "shortconv.conv", "time_mix_",     "attn_rel_b"};
  return std::ranges::any_of(kParts, [&](std::string_view part) {
    return name.find(part) != name.npos;
  });
}

Role role_of(std::string_view name) {
  if (name == "output.weight") return Role::kOutput;
  if (name == "token_embd.weight") return Role::kEmbedding;
  for (const RoleName& each : kRoleNames) {
    if (name.find(each.part) != name.npos) return each.role;
  }
  return Role::kOther;
}

// The number in "blk.12.attn_v.weight" or "enc.blk.12.attn_v.weight"; -1 if
// there is none.
int64_t layer_of(std::string_view name) {
  if (name.starts_with("enc.") || name.starts_with("dec.")) {
    name.remove_prefix(4);
  }
  if (!name.starts_with("blk.")) return -1;
  int64_t layer = 0;
  for (size_t i = 4; i < name.size() && i < 12; ++i) {
    if (name[i] == '.') return i > 4 ? layer : -1;
    if (name[i] < '0' || name[i] > '9') return -1;
    layer = 10 * layer + (name[i] - '0');
  }
  return -1;
}

struct Plan {
  Plan(const gguf::File& of, bool importance) : file(of), weighted(importance) {
    for (const gguf::Tensor& tensor : file.tensors()) {
      const int64_t layer = layer_of(tensor.name);
      if (layer < 0 || is_delicate(tensor.name)) continue;
      layers[role_of(tensor.name)].push_back(layer);
    }
    for (auto& [role, all] : layers) {
      std::ranges::sort(all);
      all.erase(std::unique(all.begin(), all.end()), all.end());
    }
    const auto number = [&](const char* key) -> int64_t {
      const auto name = file.find_string("general.architecture");
      if (!name) return 0;
      const std::string whole = std::string(*name) + key;
      const gguf::Entry* entry = file.find(whole);
      if (entry == nullptr || entry->type == gguf::ValueType::kArray) return 0;
      return file.find_int(whole).value_or(0);
    };
    const int64_t heads = number(".attention.head_count");
    const int64_t shared = number(".attention.head_count_kv");
    grouped = shared > 0 && heads / shared >= 4;
    experts = number(".expert_count");
    tied = file.find_tensor("output.weight") == nullptr;
  }

  bool holds(When when, Role role, int64_t layer) const {
    const auto found = layers.find(role);
    int64_t i = 0, count = 1;
    if (layer >= 0 && found != layers.end()) {
      const std::vector<int64_t>& all = found->second;
      i = std::ranges::lower_bound(all, layer) - all.begin();
      count = static_cast<int64_t>(all.size());
    }
    switch (when) {
      case When::kAlways:
        return true;
      case When::kFirstTwo:
        return i < 2;
      case When::kFirstFour:
        return i < 4;
      case When::kFirstSixteenth:
        return i < count / 16;
      case When::kFirstEighth:
        return i < count / 8;
      case When::kSpread:
        return i < count / 8 || i >= 7 * count / 8 || (i - count / 8) % 3 == 2;
      case When::kMiddle:
        return i >= count / 8 && i < 7 * count / 8;
      case When::kGroupedHeads:
        return grouped;
      case When::kFourExperts:
        return experts >= 4;
      case When::kEightExperts:
        return experts == 8;
      case When::kSpreadOfEightExperts:
        return experts == 8 && holds(When::kSpread, role, layer);
      case When::kFirstEighthUnweighted:
        return !weighted && i < count / 8;
      case When::kFirstEighthWeighted:
        return weighted && i < count / 8;
    }
    return false;
  }

  DType wanted(const Mix& mix, std::string_view name) const {
    Role role = role_of(name);
    // The embedding is the output too.
    if (role == Role::kEmbedding && tied) role = Role::kOutput;
    const int64_t layer = layer_of(name);
    for (const MixRule& rule : mix.rules) {
      if (rule.role == role && holds(rule.when, role, layer)) return rule.type;
    }
    return mix.type;
  }

  const gguf::File& file;
  const bool weighted;
  std::map<Role, std::vector<int64_t>> layers;
  bool grouped = false;
  int64_t experts = 0;
  bool tied = false;
};

}  // namespace

const char* mix_name(size_t i) {
  return i < std::size(kMixes) ? kMixes[i].name : nullptr;
}

const char* name_of(const Mix& mix) { return mix.name; }

uint32_t file_type(const Mix& mix) { return mix.file_type; }

const Mix& find_mix(std::string_view name) {
  const auto same = [](char a, char b) {
    return a == (b >= 'a' && b <= 'z' ? static_cast<char>(b - 'a' + 'A') : b);
  };
  std::string known;
  for (const Mix& mix : kMixes) {
    if (std::ranges::equal(std::string_view(mix.name), name, same)) return mix;
    known.append(known.empty() ? "" : ", ").append(mix.name);
  }
  fail(RC_E_INVALID_ARGUMENT, "type ", quote(name),
       " cannot be converted to; there are ", known);
}

bool needs_importance(std::string_view tensor, DType type) {
  if (tensor == "token_embd.weight" || tensor == "output.weight") return false;
  switch (type) {
    case RC_DTYPE_IQ1_S:
    case RC_DTYPE_IQ1_M:
    case RC_DTYPE_IQ2_XXS:
    case RC_DTYPE_IQ2_XS:
    case RC_DTYPE_IQ2_S:
    case RC_DTYPE_IQ3_XXS:
      return true;
    default:
      return false;
  }
}

std::vector<DType> planned_types(const gguf::File& file, const Mix& mix,
                                 bool requantizes, bool weighted) {
  const Plan plan(file, weighted);
  std::vector<DType> types;
  types.reserve(file.tensors().size());
  for (const gguf::Tensor& tensor : file.tensors()) {
    DType type = tensor.dtype;
    const bool is_number = is_float(tensor.dtype);
    const bool may_change =
        tensor.shape.size() > 1 && !is_delicate(tensor.name) &&
        (is_number ||
         (requantizes && dtype_info(tensor.dtype)->block_size > 1));
    if (may_change) {
      DType wanted = plan.wanted(mix, tensor.name);
      for (const auto& [from, to] : kFallbacks) {
        if (wanted == from && !row_bytes(from, tensor.shape.back())) {
          wanted = to;
          break;
        }
      }
      if (row_bytes(wanted, tensor.shape.back()) &&
          (is_number || bits_of(wanted) < bits_of(tensor.dtype))) {
        type = wanted;
      }
    }
    types.push_back(type);
  }
  return types;
}

}  // namespace rc::quantize
