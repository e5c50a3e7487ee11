// The configuration of experts in a folder.
#include "files/folder/description.h"

namespace rc::folder {

void add_experts(Description& model, const ExpertKeys& keys) {
  const Config& config = model.config();
  model.add_int("expert_count", config.get_int(keys.count));
  model.add_int("expert_used_count", config.get_int(keys.used));
  model.add_int("expert_feed_forward_length", config.get_int(keys.size));
}

void add_normalized(Description& model) {
  model.add_flag("expert_weights_norm",
                 model.config().find_flag("norm_topk_prob").value_or(false));
}

void add_expert_groups(Description& model) {
  const Config& config = model.config();
  model.add_int("expert_group_count", config.get_int("n_group"));
  model.add_int("expert_group_used_count", config.get_int("topk_group"));
}

void add_selected_experts(Description& model) {
  const Config& config = model.config();
  add_experts(model, {.count = "n_routed_experts"});
  model.add_int("expert_shared_count",
                config.find_int("n_shared_experts").value_or(0));
  model.add_int("leading_dense_block_count", dense_layers(config));
  // GGUF's number of the sigmoid.
  model.add_int("expert_gating_func", 2);
  model.add_number("expert_weights_scale",
                   config.get_number("routed_scaling_factor"));
  add_normalized(model);
  if (config.find_int("n_group").value_or(1) != 1) add_expert_groups(model);
}

int64_t dense_layers(const Config& config) {
  const auto types = config.find_texts("mlp_layer_types");
  if (!types) return config.get_int("first_k_dense_replace");
  int64_t dense = 0;
  for (size_t i = 0; i < types->size(); ++i) {
    const std::string& type = (*types)[i];
    const bool first = dense == static_cast<int64_t>(i);
    if (type == "dense" && first) {
      ++dense;
    } else if (type != "sparse") {
      config.refuse(RC_E_UNSUPPORTED, "mlp_layer_types", "[", i, "] is ",
                    quote(type),
                    "; known are dense for the first layers and sparse for "
                    "those behind them");
    }
  }
  return dense;
}

void expect_experts_everywhere(const Config& config) {
  expect_number(config, "decoder_sparse_step", 1);
  const auto dense = config.find_ints("mlp_only_layers");
  if (dense && !dense->empty()) {
    config.refuse(RC_E_UNSUPPORTED, "mlp_only_layers",
                  " is not empty; all layers are computed with experts");
  }
}

}  // namespace rc::folder
