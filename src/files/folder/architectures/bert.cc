// BERT; RoBERTa and XLM-RoBERTa, which are BERT with other texts and positions.
#include "files/folder/architectures/list.h"
#include "files/folder/pooling.h"

namespace rc::folder {
namespace {

constexpr Rule kBertRules[] = {
    {"embeddings.word_embeddings.weight", "token_embd.weight"},
    {"embeddings.token_type_embeddings.weight", "token_types.weight"},
    {"embeddings.LayerNorm.@", "token_embd_norm.@"},
    {"encoder.layer.*.attention.self.query.@", "blk.*.attn_q.@"},
    {"encoder.layer.*.attention.self.key.@", "blk.*.attn_k.@"},
    {"encoder.layer.*.attention.self.value.@", "blk.*.attn_v.@"},
    {"encoder.layer.*.attention.output.dense.@", "blk.*.attn_output.@"},
    {"encoder.layer.*.attention.output.LayerNorm.@",
     "blk.*.attn_output_norm.@"},
    {"encoder.layer.*.intermediate.dense.@", "blk.*.ffn_up.@"},
    {"encoder.layer.*.output.dense.@", "blk.*.ffn_down.@"},
    {"encoder.layer.*.output.LayerNorm.@", "blk.*.layer_output_norm.@"},
    // The names of norms in old folders.
    {"embeddings.LayerNorm.gamma", "token_embd_norm.weight"},
    {"embeddings.LayerNorm.beta", "token_embd_norm.bias"},
    {"encoder.layer.*.attention.output.LayerNorm.gamma",
     "blk.*.attn_output_norm.weight"},
    {"encoder.layer.*.attention.output.LayerNorm.beta",
     "blk.*.attn_output_norm.bias"},
    {"encoder.layer.*.output.LayerNorm.gamma",
     "blk.*.layer_output_norm.weight"},
    {"encoder.layer.*.output.LayerNorm.beta", "blk.*.layer_output_norm.bias"},
    // Of a model that scores texts.
    {"pooler.dense.@", "cls.@", as_it_is, classifies},
    {"classifier.@", "cls.output.@", as_it_is, classifies},
    // Numbers from 0 on; and what comes after the rows of the last layer, which
    // are what the model gives.
    {"embeddings.position_ids", ""},
    {"pooler.dense.@", ""},
    {"cls.%", ""},
};

constexpr Rule kBertPositionRules[] = {
    {"embeddings.position_embeddings.weight", "position_embd.weight"},
};

void describe_encoder(Description& model, int64_t positions) {
  const Config& config = model.config();
  add_activation(model, "hidden_act", {"gelu"});
  expect_text(config, "position_embedding_type", {"absolute"});
  expect_flag(config, "is_decoder", false);
  model.add_int("block_count", layer_count(config));
  model.add_int("context_length", positions);
  model.add_int("embedding_length", config.get_int("hidden_size"));
  model.add_int("feed_forward_length", config.get_int("intermediate_size"));
  model.add_int("attention.head_count", config.get_int("num_attention_heads"));
  model.add_number("attention.layer_norm_epsilon",
                   config.get_number("layer_norm_eps"));
  model.add_flag("attention.causal", false);
}

void describe_bert(Description& model) {
  describe_encoder(model, model.config().get_int("max_position_embeddings"));
}

// Positions are counted from the one behind that of padding on.
int64_t first_position(const Config& config) {
  const int64_t first = config.get_int("pad_token_id") + 1;
  const int64_t count = config.get_int("max_position_embeddings");
  if (first < 0 || first >= count) {
    config.refuse(RC_E_FORMAT, "pad_token_id", " is ", first - 1,
                  ", but must be -1 to ", count - 2);
  }
  return first;
}

TensorView used_positions(const Config& config,
                          const safetensors::Place& source) {
  return rows_from(source, first_position(config));
}

constexpr Rule kRobertaRules[] = {
    {"embeddings.position_embeddings.weight", "position_embd.weight",
     used_positions},
    {"lm_head.%", ""},
    {"classifier.%", ""},
};

void describe_roberta(Description& model) {
  const Config& config = model.config();
  describe_encoder(model, config.get_int("max_position_embeddings") -
                              first_position(config));
}

constexpr std::string_view kRobertaDefaults =
    R"({"layer_norm_eps": 1e-12, "max_position_embeddings": 512,
        "pad_token_id": 1})";

}  // namespace

constexpr Architecture kBert = {
    .model_type = "bert",
    .name = "bert",
    .defaults = R"({"layer_norm_eps": 1e-12, "max_position_embeddings": 512})",
    .renames = {{"bert.", ""}, {}},
    .rules = {kBertRules, kBertPositionRules},
    .describe = describe_bert,
    .gives_hidden_rows = true,
};

constexpr Architecture kRoberta = {
    .model_type = "roberta",
    .name = "bert",
    .defaults = kRobertaDefaults,
    .renames = {{"roberta.", ""}, {}},
    .rules = {kBertRules, kRobertaRules},
    .describe = describe_roberta,
    .gives_hidden_rows = true,
};

constexpr Architecture kXlmRoberta = {
    .model_type = "xlm-roberta",
    .name = "bert",
    .defaults = kRobertaDefaults,
    .renames = {{"roberta.", ""}, {}},
    .rules = {kBertRules, kRobertaRules},
    .describe = describe_roberta,
    .gives_hidden_rows = true,
};

constexpr Architecture kCamembert = {
    .model_type = "camembert",
    .name = "bert",
    .defaults = kRobertaDefaults,
    .renames = {{"roberta.", ""}, {}},
    .rules = {kBertRules, kRobertaRules},
    .describe = describe_roberta,
    .gives_hidden_rows = true,
};

}  // namespace rc::folder
