// Apertus. What its function of each layer is made of are tensors of a number
// each.
#include <algorithm>

#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

constexpr Rule kApertusRules[] = {
    {"model.norm.weight", "output_norm.weight"},
    {"model.layers.*.attention_layernorm.weight", "blk.*.attn_norm.weight"},
    {"model.layers.*.feedforward_layernorm.weight", "blk.*.ffn_norm.weight"},
    {"model.layers.*.mlp.act_fn.%", ""},
};

constexpr std::string_view kDefaultRope =
    R"({"rope_type": "llama3", "rope_theta": 12e6, "factor": 8.0,
        "original_max_position_embeddings": 8192, "low_freq_factor": 1.0,
        "high_freq_factor": 4.0})";

// The number that is a tensor's only element.
float number_of(const safetensors::Shards& shards, const std::string& name,
                const Config& config) {
  for (const safetensors::Place& place : shards.places()) {
    if (place.tensor->name != name) continue;
    const std::vector<int64_t>& shape = place.tensor->shape;
    if (std::ranges::any_of(shape, [](int64_t size) { return size != 1; })) {
      refuse_shape(place, "that of one number");
    }
    TensorView view;
    view.folder_dtype = float_type(place);
    view.shape = {1};
    view.rows = view.columns = 1;
    view.slabs = {{place, 0, 1, 1}};
    float value = 0.0f;
    view.read(0, std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
  fail(RC_E_FORMAT, config.file(), ": tensor ", name, " is missing");
}

void describe_apertus(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"xielu"});
  add_decoder(model, {.default_rope = kDefaultRope});
}

void describe_functions(Description& model, const safetensors::Shards& shards) {
  for (const char* name : {"alpha_p", "alpha_n", "beta", "eps"}) {
    std::vector<float> values;
    for (int64_t i = 0; i < layer_count(model.config()); ++i) {
      values.push_back(number_of(shards,
                                 cat("model.layers.", i, ".mlp.act_fn.", name),
                                 model.config()));
    }
    model.add_numbers(cat("xielu.", name), values);
  }
}

}  // namespace

constexpr Architecture kApertus = {
    .model_type = "apertus",
    .name = "apertus",
    .defaults = R"({"rms_norm_eps": 1e-5, "max_position_embeddings": 65536,
                    "rope_theta": 12e6, "hidden_act": "xielu",
                    "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kAttentionRules, kHeadNormRules, kApertusRules},
    .describe = describe_apertus,
    .describe_tensors = describe_functions,
};

}  // namespace rc::folder
