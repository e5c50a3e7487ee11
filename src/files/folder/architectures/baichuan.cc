// Baichuan 1: queries, keys and values are one matrix.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

// Those of the larger models, which do not rotate.
bool has_slopes(const Config& config) { return layer_count(config) == 40; }

// Queries, keys or values: part 0, 1 or 2. The rows of what rotates are put
// into pairs, as converters do where nothing rotates, too.
TensorView baichuan_part(const Config& config, const safetensors::Place& source,
                         size_t part) {
  const int64_t size = head_size(config);
  const int64_t width = config.get_int("hidden_size");
  const int64_t parts[] = {width, width, width};
  TensorView view = parts_of_groups(source, 1, parts, part, 1);
  if (part == 2) return view;
  if (size < 2 || size % 2 != 0 || width % size != 0) {
    refuse_shape(source, "pairs of rows for each head");
  }
  view.heads = view.rows / static_cast<uint64_t>(size);
  return view;
}

TensorView baichuan_queries(const Config& config,
                            const safetensors::Place& source) {
  return baichuan_part(config, source, 0);
}
TensorView baichuan_keys(const Config& config,
                         const safetensors::Place& source) {
  return baichuan_part(config, source, 1);
}
TensorView baichuan_values(const Config& config,
                           const safetensors::Place& source) {
  return baichuan_part(config, source, 2);
}

constexpr Rule kBaichuanRules[] = {
    {"model.layers.*.self_attn.W_pack.weight", "blk.*.attn_q.weight",
     baichuan_queries},
    {"model.layers.*.self_attn.W_pack.weight", "blk.*.attn_k.weight",
     baichuan_keys},
    {"model.layers.*.self_attn.W_pack.weight", "blk.*.attn_v.weight",
     baichuan_values},
};

void describe_baichuan(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  // The second models divide each row of the matrix of logits by its length.
  constexpr int64_t kVocabularyOfTheSecond = 125696;
  if (config.get_int("vocab_size") == kVocabularyOfTheSecond) {
    config.refuse(RC_E_UNSUPPORTED, "vocab_size", " is ",
                  kVocabularyOfTheSecond,
                  ": this is Baichuan 2, whose folders cannot be read; load a "
                  "GGUF file of it");
  }
  const int64_t heads = config.get_int("num_attention_heads");
  model.add_int("block_count", layer_count(config));
  model.add_int("context_length",
                config.find_int("model_max_length")
                    .value_or(config.get_int("max_position_embeddings")));
  model.add_int("embedding_length", config.get_int("hidden_size"));
  model.add_int("feed_forward_length", config.get_int("intermediate_size"));
  model.add_int("attention.head_count", heads);
  model.add_int("attention.head_count_kv", heads);
  model.add_number("attention.layer_norm_rms_epsilon",
                   config.get_number("rms_norm_eps"));
  if (!has_slopes(config)) add_rope(model);
}

}  // namespace

constexpr Architecture kBaichuan = {
    .model_type = "baichuan",
    .name = "baichuan",
    .defaults = R"({"max_position_embeddings": 4096, "rms_norm_eps": 1e-6,
                    "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kBaichuanRules, kNormRules},
    .describe = describe_baichuan,
};

}  // namespace rc::folder
