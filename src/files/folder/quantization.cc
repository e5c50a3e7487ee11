#include "files/folder/quantization.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "files/folder/expanded_tensor.h"
#include "files/folder/rules.h"

namespace rc::folder {
namespace {

using safetensors::Place;

// The properties that config.json gives to all quantized tensors; 0: none.
struct Scheme {
  std::string method;
  int64_t bits = 0;
  int64_t group_size = 0;  // -1: whole rows
  int64_t block_rows = 0;
  int64_t block_columns = 0;
  uint32_t zero_offset = 0;
};

[[noreturn]] void refuse_scheme(const Config& config, std::string_view key,
                                const std::string& value) {
  config.refuse(
      RC_E_UNSUPPORTED, key, " is ", quote(value),
      "; known are fp8, gptq of 2, 4 and 8 bits, awq (gemm) of 4, and "
      "compressed-tensors as float-quantized, int-quantized, "
      "naive-quantized and pack-quantized; save the model with "
      "plain weights, or use a GGUF file of it");
}

void read_block(const Config& config, std::string_view key, Scheme* scheme) {
  const auto block = config.find_ints(key);
  if (!block) return;
  if (block->size() != 2 || (*block)[0] < 1 || (*block)[1] < 1) {
    config.refuse(RC_E_FORMAT, key, " is not the size of a block");
  }
  scheme->block_rows = (*block)[0];
  scheme->block_columns = (*block)[1];
}

void read_compressed(const Config& config, Scheme* scheme) {
  const std::string format = config.find_text("format").value_or("");
  if (format != "float-quantized" && format != "int-quantized" &&
      format != "naive-quantized" && format != "pack-quantized") {
    refuse_scheme(config, "format", format);
  }
  if (const auto sparsity = config.find_object("sparsity_config")) {
    const std::string kind = sparsity->find_text("format").value_or("dense");
    if (kind != "dense") refuse_scheme(*sparsity, "format", kind);
  }
  const auto groups = config.find_object("config_groups");
  if (!groups) return;
  for (const auto& [name, description] : groups->members()) {
    const auto group = groups->find_object(name);
    const auto weights = group ? group->find_object("weights") : std::nullopt;
    if (!weights) continue;
    read_block(*weights, "block_structure", scheme);
    if (const auto size = weights->find_int("group_size")) {
      scheme->group_size = *size;
    }
  }
}

Scheme read_scheme(const Config& config) {
  Scheme scheme;
  scheme.method = config.find_text("quant_method").value_or("");
  if (scheme.method == "fp8") {
    read_block(config, "weight_block_size", &scheme);
  } else if (scheme.method == "compressed-tensors") {
    read_compressed(config, &scheme);
  } else if (scheme.method == "gptq" || scheme.method == "awq") {
    const bool awq = scheme.method == "awq";
    scheme.bits = config.get_int("bits");
    scheme.group_size = config.get_int("group_size");
    if (scheme.bits != 4 && (awq || (scheme.bits != 2 && scheme.bits != 8))) {
      refuse_scheme(config, "bits", std::to_string(scheme.bits));
    }
    const char* key = awq ? "version" : "checkpoint_format";
    std::string form = config.find_text(key).value_or(awq ? "gemm" : "gptq");
    std::ranges::transform(form, form.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    // The first version of GPTQ's files has zeros that are one less.
    if (form == "gptq" && !awq) {
      scheme.zero_offset = 1;
    } else if (form != (awq ? "gemm" : "gptq_v2")) {
      refuse_scheme(config, key, form);
    }
  } else {
    refuse_scheme(config, "quant_method", scheme.method);
  }
  return scheme;
}

// Names of the tensors that accompany a weight: only the needed ones are read.
constexpr std::string_view kBeside[] = {
    ".weight_scale",     ".weight_scale_inv", ".input_scale",
    ".activation_scale", ".output_scale",     ".weight_zero_point",
    ".input_zero_point", ".weight_shape",     ".weight_g_idx",
    ".qzeros",           ".scales",           ".g_idx",
    ".k_scale",          ".v_scale",          ".q_scale"};

class Expander {
 public:
  Expander(const Scheme& scheme, const safetensors::Shards& shards)
      : scheme_(scheme) {
    for (const Place& place : shards.places()) {
      places_.emplace(place.tensor->name, place);
    }
  }

  void expand(safetensors::Shards& shards) {
    for (const auto& [name, place] : places_) {
      const auto without = [&text = name](std::string_view ending) {
        return text.substr(0, text.size() - ending.size());
      };
      if (name.ends_with(".qweight")) {
        add(columns(without(".qweight"), place));
      } else if (name.ends_with(".weight_packed")) {
        add(packed(without(".weight_packed"), place));
      } else if (name.ends_with(".weight") && is_bytes(place)) {
        add(bytes(without(".weight"), place));
      } else if (!stands_beside(name)) {
        result_.push_back(place);
      }
    }
    shards.replace(std::move(result_), std::move(owners_));
  }

 private:
  static bool stands_beside(std::string_view name) {
    return std::ranges::any_of(kBeside, [&](std::string_view ending) {
      return name.ends_with(ending);
    });
  }
  static bool is_bytes(const Place& place) {
    const std::string_view type = place.tensor->type->name;
    return type == "F8_E4M3" || type == "F8_E5M2" || type == "I8";
  }

  void add(std::shared_ptr<const ExpandedTensor> tensor) {
    result_.push_back({tensor.get(), &tensor->tensor()});
    owners_.push_back(std::move(tensor));
  }

  std::optional<Place> find(const std::string& name) const {
    const auto place = places_.find(name);
    if (place == places_.end()) return std::nullopt;
    return place->second;
  }
  Place get(const std::string& name, const Place& weights) const {
    const auto place = find(name);
    if (!place) {
      fail(RC_E_FORMAT, weights.file->name(), ": tensor ",
           quote(weights.tensor->name), " is quantized, but ", quote(name),
           " is missing");
    }
    return *place;
  }
  static void expect_shape(const Place& place, int64_t rows, int64_t columns) {
    if (place.tensor->shape == std::vector<int64_t>{rows, columns}) return;
    refuse_shape(place, cat("[", rows, ", ", columns, "]"));
  }
  static void expect_type(const Place& place, std::string_view type) {
    if (place.tensor->type->name == type) return;
    fail(RC_E_FORMAT, place.file->name(), ": tensor ",
         quote(place.tensor->name), " is of type ", place.tensor->type->name,
         ", not ", type);
  }
  static void expect_matrix(const Place& place) {
    const auto& shape = place.tensor->shape;
    if (shape.size() == 2 && shape[0] > 0 && shape[1] > 0) return;
    refuse_shape(place, "a matrix");
  }
  static void expect_vector(const Place& place, int64_t size) {
    if (place.tensor->shape == std::vector<int64_t>{size}) return;
    refuse_shape(place, cat("[", size, "]"));
  }

  // Returns the number of elements of a scale, if `size` elements have `count`
  // scales.
  static uint64_t block_of(const Place& scale, int64_t size, int64_t count,
                           int64_t said) {
    if (count == 1) return static_cast<uint64_t>(size);
    if (count == size) return 1;
    const int64_t block =
        said > 0 || count < 1 || size % count != 0 ? said : size / count;
    if (block < 1 || count < 1 || (size - 1) / block + 1 != count) {
      refuse_shape(scale, cat("one number for each block of ", block, " of ",
                              size, " elements"));
    }
    return static_cast<uint64_t>(block);
  }

  Scales scales_of(const Place& scale, int64_t rows, int64_t columns) const {
    if (!has_numbers(scale) || scale.tensor->type->name == "I8") {
      fail(RC_E_UNSUPPORTED, scale.file->name(), ": tensor ",
           quote(scale.tensor->name), " is of type ", scale.tensor->type->name,
           "; scales may be F32, F16, BF16 and floats of 8 bits");
    }
    const std::vector<int64_t>& shape = scale.tensor->shape;
    if (shape.size() > 2 || std::ranges::find(shape, 0) != shape.end()) {
      refuse_shape(scale, "one of at most two dimensions without a 0");
    }
    const int64_t down = shape.empty() ? 1 : shape[0];
    const int64_t along = shape.size() < 2 ? 1 : shape[1];
    const int64_t said =
        scheme_.block_columns > 0 ? scheme_.block_columns : scheme_.group_size;
    return {scale, block_of(scale, rows, down, scheme_.block_rows),
            block_of(scale, columns, along, said), static_cast<uint64_t>(along),
            std::nullopt};
  }

  std::shared_ptr<const ExpandedTensor> bytes(const std::string& name,
                                              const Place& weights) const {
    expect_matrix(weights);
    const auto inverse = find(name + ".weight_scale_inv");
    const Place scale =
        inverse ? *inverse : get(name + ".weight_scale", weights);
    const auto& shape = weights.tensor->shape;
    Scales scales = scales_of(scale, shape[0], shape[1]);
    if (const auto zeros = find(name + ".weight_zero_point")) {
      expect_type(*zeros, weights.tensor->type->name);
      if (zeros->tensor->shape != scale.tensor->shape) {
        refuse_shape(*zeros, "that of the scales");
      }
      scales.zeros = zeros;
    }
    return expand_bytes(name + ".weight", weights, scales);
  }

  // [rows, columns], which a tensor of two 64-bit numbers says.
  static std::pair<int64_t, int64_t> read_size(const Place& place) {
    expect_vector(place, 2);
    expect_type(place, "I64");
    int64_t size[2] = {};
    place.file->read(*place.tensor, 0, std::as_writable_bytes(std::span(size)));
    return {size[0], size[1]};
  }

  std::shared_ptr<const ExpandedTensor> packed(const std::string& name,
                                               const Place& weights) const {
    expect_matrix(weights);
    expect_type(weights, "I32");
    const auto [rows, columns] =
        read_size(get(name + ".weight_shape", weights));
    const int64_t words = weights.tensor->shape[1];
    PackedRows packed{.weights = weights,
                      .bits = 0,
                      .rows = rows,
                      .columns = columns,
                      .zeros = find(name + ".weight_zero_point"),
                      .groups = find(name + ".weight_g_idx")};
    for (const int64_t bits : {2, 4, 8}) {
      if (columns > 0 && (columns - 1) / (32 / bits) + 1 == words) {
        packed.bits = static_cast<uint64_t>(bits);
      }
    }
    if (rows != weights.tensor->shape[0] || packed.bits == 0) {
      refuse_shape(weights, cat("a matrix of ", rows, " rows and ", columns,
                                " columns of 2, 4 or 8 bits"));
    }
    const Scales scales =
        scales_of(get(name + ".weight_scale", weights), rows, columns);
    if (packed.zeros) {
      expect_type(*packed.zeros, "I32");
      const auto per_word = static_cast<int64_t>(32 / packed.bits);
      if (scales.block_rows != 1) {
        refuse_shape(scales.place, "one with scales for each row");
      }
      expect_shape(*packed.zeros, (rows - 1) / per_word + 1,
                   static_cast<int64_t>(scales.per_row));
    }
    if (packed.groups) {
      expect_type(*packed.groups, "I32");
      expect_vector(*packed.groups, columns);
    }
    return expand_packed(name + ".weight", packed, scales);
  }

  std::shared_ptr<const ExpandedTensor> columns(const std::string& name,
                                                const Place& weights) const {
    const bool awq = scheme_.method == "awq";
    if (!awq && scheme_.method != "gptq") {
      fail(RC_E_UNSUPPORTED, weights.file->name(), ": tensor ",
           quote(weights.tensor->name), " is one of gptq or awq, not of ",
           scheme_.method);
    }
    expect_matrix(weights);
    expect_type(weights, "I32");
    PackedColumns packed{.weights = weights,
                         .zeros = get(name + ".qzeros", weights),
                         .scales = get(name + ".scales", weights),
                         .groups = awq ? std::nullopt : find(name + ".g_idx"),
                         .rows = weights.tensor->shape[1],
                         .columns = weights.tensor->shape[0],
                         .group_size = 0,
                         .bits = static_cast<uint64_t>(scheme_.bits),
                         .awq = awq,
                         .zero_offset = scheme_.zero_offset};
    const int64_t per_word = 32 / scheme_.bits;
    (awq ? packed.rows : packed.columns) *= per_word;
    const int64_t size =
        scheme_.group_size == -1 ? packed.columns : scheme_.group_size;
    if (size < 1 || packed.rows % per_word != 0) {
      refuse_shape(weights,
                   cat("one with groups of ", size,
                       " columns and a multiple of ", per_word, " rows"));
    }
    packed.group_size = static_cast<uint64_t>(size);
    const int64_t groups = (packed.columns - 1) / size + 1;
    if (!has_numbers(packed.scales)) expect_type(packed.scales, "F16");
    expect_shape(packed.scales, groups, packed.rows);
    expect_type(packed.zeros, "I32");
    expect_shape(packed.zeros, groups, packed.rows / per_word);
    if (packed.groups) {
      expect_type(*packed.groups, "I32");
      expect_vector(*packed.groups, packed.columns);
    }
    return expand_columns(name + ".weight", packed, tile_);
  }

  const Scheme& scheme_;
  std::map<std::string, Place, std::less<>> places_;
  std::vector<Place> result_;
  std::vector<std::shared_ptr<const safetensors::TensorSource>> owners_;
  const std::shared_ptr<Tile> tile_ = std::make_shared<Tile>();
};

}  // namespace

void expand_quantized(const Config& config, safetensors::Shards& shards) {
  const auto quantization = config.find_object("quantization_config");
  if (!quantization) return;
  const Scheme scheme = read_scheme(*quantization);
  Expander(scheme, shards).expand(shards);
}

}  // namespace rc::folder
