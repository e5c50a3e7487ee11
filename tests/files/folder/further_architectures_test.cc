// Folders of text parts of models that read pictures, and of families with
// special layouts.
#include <cstring>
#include <fstream>
#include <iterator>

#include "files/folder/config.h"
#include "files/folder/folder_util.h"

namespace rc::folder {
namespace {

using test::FolderTest;
using test::OneTensor;
using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;

TEST_F(FolderTest, UnsupportedOptionsOfFurtherArchitecturesAreRefused) {
  const struct {
    const char* patch;
    const char* message;
  } cases[] = {
      {R"({"model_type": "opt", "do_layer_norm_before": false})",
       "'do_layer_norm_before' is false"},
      {R"({"model_type": "opt", "_remove_final_layer_norm": true})",
       "'_remove_final_layer_norm' is true"},
      {R"({"model_type": "opt", "layer_norm_elementwise_affine": false})",
       "'layer_norm_elementwise_affine' is false"},
      {R"({"model_type": "opt", "word_embed_proj_dim": 16})",
       "'word_embed_proj_dim' is 16"},
      {R"({"model_type": "opt", "activation_function": "mish"})",
       "'activation_function' is 'mish'"},
      {R"({"model_type": "gpt_neo", "attention_layers": ["global", "near"]})",
       "'attention_layers' holds 'near'; known are global, local"},
      {R"({"model_type": "gpt_neo", "attention_types": [[["global"], 2]]})",
       "'attention_types' is not null"},
      {R"({"model_type": "exaone", "activation_function": "gelu",
           "hidden_act": null})",
       "'hidden_act' is 'gelu'"},
      {R"({"model_type": "exaone_moe", "mlp_layer_types": ["sparse", "dense"]})",
       "'mlp_layer_types'[1] is 'dense'"},
      {R"({"model_type": "exaone_moe", "scoring_func": "softmax"})",
       "'scoring_func' is 'softmax'"},
      {R"({"model_type": "granite_swa", "layer_rope_theta": [0, 500, 600]})",
       "'layer_rope_theta' has 600 for layer 2 and 500 for one before"},
      {R"({"model_type": "bamba", "attn_rotary_emb": 8})",
       "'attn_rotary_emb' is 8"},
      {R"({"model_type": "bamba", "rope_scaling": null,
           "rope_parameters": {"partial_rotary_factor": 0.25}})",
       "'partial_rotary_factor' is 0.25"},
      // An object within config.json has no type.
      {R"({"model_type": "bamba", "rope_scaling": null,
           "rope_parameters": {"partial_rotary_factor": 1.0}})",
       "'partial_rotary_factor' is 1; models of this type"},
      {R"({"model_type": "jais2"})", "'hidden_act' is 'silu'"},
      {R"({"model_type": "bitnet", "hidden_act": "mish"})",
       "'hidden_act' is 'mish'"},
      {R"({"model_type": "bitnet",
           "quantization_config": {"quant_method": "bitnet"}})",
       "'quant_method' is 'bitnet'"},
      {R"({"model_type": "falcon_mamba", "use_bias": true})",
       "'use_bias' is true"},
      {R"({"model_type": "cwm", "layer_types": ["window"]})",
       "'layer_types' holds 'window'"},
      {R"({"model_type": "qwen2_5_vl", "use_sliding_window": true,
           "max_window_layers": 1})",
       "'use_sliding_window' is true"},
      {R"({"model_type": "qwen3_vl", "hidden_act": "gelu"})",
       "'hidden_act' is 'gelu'"},
      {R"({"model_type": "qwen3_vl_moe", "decoder_sparse_step": 2})",
       "'decoder_sparse_step' is 2"},
  };
  for (const auto& [patch, message] : cases) {
    copy("llama");
    change("config.json", patch);
    expect_refused(RC_E_UNSUPPORTED, message);
  }
}

// Readers of a file that see pictures need them.
TEST_F(FolderTest, RopeSectionsForPicturesAreKept) {
  copy("qwen2");
  change("config.json", R"({"model_type": "qwen2_vl",
      "rope_scaling": {"type": "mrope", "mrope_section": [1, 2, 1]}})");
  auto file = open();
  EXPECT_EQ(file->find_ints("qwen2vl.rope.dimension_sections"),
            (Ints{1, 2, 1, 0}));
  EXPECT_FALSE(file->find_string("qwen2vl.rope.scaling.type"));
  change("config.json", R"({"model_type": "qwen3_vl", "head_dim": 8,
      "vision_config": {"deepstack_visual_indexes": [0, 1, 1]}})");
  file = open();
  EXPECT_EQ(file->get_int("qwen3vl.n_deepstack_layers"), 3);
  EXPECT_EQ(file->find_ints("qwen3vl.rope.dimension_sections"),
            (Ints{1, 2, 1, 0}));
  for (const char* sections : {"[]", "[1, 1, 1, 1, 0]"}) {
    change("config.json",
           cat(R"({"rope_scaling": {"mrope_section": )", sections, "}}"));
    expect_refused(RC_E_FORMAT, "'mrope_section' has");
  }
}

// A value outside of the part that is read counts before that within.
TEST_F(FolderTest, TieWordEmbeddingsOutsideOfTheTextPartCountsFirst) {
  const struct {
    const char* folder;  // "llama" has other weights for the output
    const char* outside;
    const char* within;
    bool opens;
    bool tied;
  } cases[] = {
      {"llama", nullptr, "false", true, false},
      {"llama", nullptr, "true", true, false},  // it is wrong
      {"llama", nullptr, nullptr, true, false},
      {"llama", "true", "false", true, false},
      {"llama", "true", nullptr, true, false},
      {"llama", "false", "true", true, false},
      {"qwen2", "true", "false", true, true},
      {"qwen2", nullptr, "true", true, true},
      // Older releases of transformers said it within alone, newer ones write
      // the other, too.
      {"qwen2", "false", "true", true, true},
      {"qwen2", "false", nullptr, false, false},
      {"qwen2", nullptr, nullptr, false, false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(cat(c.folder, ", outside ",
                     c.outside == nullptr ? "-" : c.outside, ", within ",
                     c.within == nullptr ? "-" : c.within));
    copy(c.folder);
    auto part = nlohmann::json::parse(std::ifstream(path("config.json")));
    nlohmann::json whole = {{"model_type", "qwen2_5_vl"}};
    if (c.outside != nullptr) whole["tie_word_embeddings"] = *c.outside == 't';
    part.erase("tie_word_embeddings");
    if (c.within != nullptr) part["tie_word_embeddings"] = *c.within == 't';
    whole["text_config"] = part;
    write("config.json", whole.dump());
    if (!c.opens) {
      expect_refused(RC_E_FORMAT, "'tie_word_embeddings' is false");
      continue;
    }
    EXPECT_EQ(open()->find_tensor("output.weight") == nullptr, c.tied);
  }
}

// Some folders have embeddings that are the output's weights twice.
TEST_F(FolderTest, TiedEmbeddingsMayBeStoredTwice) {
  copy("glm4_moe");
  std::ifstream stream(path("model.safetensors"), std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(stream), {});
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  auto header = nlohmann::json::parse(bytes.substr(8, length));
  std::string data = bytes.substr(8 + length);
  const auto table = header.at("model.embed_tokens.weight");
  const auto offsets = table.at("data_offsets").get<std::vector<uint64_t>>();
  auto& output = header["lm_head.weight"] = table;
  output["data_offsets"] = {data.size(), data.size() + offsets[1] - offsets[0]};
  data += data.substr(offsets[0], offsets[1] - offsets[0]);
  const auto has_output = [&](bool tied) {
    write("model.safetensors",
          safetensors::test::file_bytes(header.dump(), 0) + data);
    change("config.json",
           cat(R"({"tie_word_embeddings": )", tied ? "true}" : "false}"));
    return open()->find_tensor("output.weight") != nullptr;
  };
  EXPECT_FALSE(has_output(true));
  EXPECT_TRUE(has_output(false));
  data.back() ^= 1;  // they differ in the last number
  EXPECT_TRUE(has_output(true));
}

TEST_F(FolderTest, RotatingLayersAreListed) {
  copy("llama");
  change("config.json",
         R"({"model_type": "granite_swa", "rope_scaling": null,
             "layer_types": ["full_attention", "sliding_attention"]})");
  EXPECT_EQ(open()->find("granite_swa.attention.rope_pattern"), nullptr);
  change("config.json", R"({"layer_rope_theta": [0, 700.0]})");
  auto file = open();
  EXPECT_EQ(file->find_ints("granite_swa.attention.rope_pattern"),
            (Ints{0, 1}));
  EXPECT_EQ(file->get_float("granite_swa.rope.freq_base"), 700.0);
  change("config.json",
         R"({"layer_rope_theta": null, "no_rope_layers": [1, 0]})");
  file = open();
  EXPECT_EQ(file->find_ints("granite_swa.attention.rope_pattern"),
            (Ints{1, 0}));
  EXPECT_EQ(file->get_float("granite_swa.rope.freq_base"), 500000.0);
}

// Without layer_types the first of four layers sees all.
TEST_F(FolderTest, WindowPatternOfCwmHasADefault) {
  copy("llama");
  change("config.json", R"({"model_type": "cwm", "num_hidden_layers": 6})");
  EXPECT_EQ(open()->find_ints("llama.attention.sliding_window_pattern"),
            (Ints{0, 1, 1, 1, 0, 1}));
  EXPECT_EQ(open()->get_int("llama.attention.sliding_window"), 8192);
}

TEST_F(FolderTest, LeadingDenseLayersAreCounted) {
  copy("llama");
  const auto dense = [&](const char* patch) {
    change("config.json", patch);
    return open()->get_int("exaone-moe.leading_dense_block_count");
  };
  EXPECT_EQ(dense(R"({"model_type": "exaone_moe"})"), 1);
  EXPECT_EQ(dense(R"({"first_k_dense_replace": 2})"), 2);
  EXPECT_EQ(dense(R"({"mlp_layer_types": ["sparse", "sparse"]})"), 0);
  EXPECT_EQ(dense(R"({"mlp_layer_types": ["dense", "sparse"]})"), 1);
}

// Heads of two elements, one in each quarter.
TEST_F(OneTensor, FusedTensorOfCodeGenIsSplit) {
  write_tensor("transformer.h.0.attn.qkv_proj.weight", "F32", {24, 1});
  const char* config = R"({"model_type": "codegen", "n_embd": 8, "n_head": 4,
                           "n_layer": 1, "rotary_dim": 2})";
  change("config.json", config);
  EXPECT_EQ(floats("blk.0.attn_q.weight"),
            (Floats{0, 1, 6, 7, 12, 13, 18, 19}));
  EXPECT_EQ(floats("blk.0.attn_v.weight"),
            (Floats{2, 3, 8, 9, 14, 15, 20, 21}));
  EXPECT_EQ(floats("blk.0.attn_k.weight"),
            (Floats{4, 5, 10, 11, 16, 17, 22, 23}));
  for (const char* width : {"0", "4", "12", "9223372036854775807"}) {
    change("config.json", cat(R"({"n_embd": )", width, "}"));
    EXPECT_THROW(open(), Error) << width;
  }
}

// Four heads of eight elements.
TEST_F(OneTensor, RowsOfBambaHeadsAreReordered) {
  write_tensor("model.layers.0.self_attn.k_proj.weight", "F32", {16, 1});
  change("config.json", R"({"model_type": "bamba"})");
  EXPECT_EQ(floats("blk.0.attn_k.weight"),
            (Floats{0, 2, 1, 3, 4, 5, 6, 7, 8, 10, 9, 11, 12, 13, 14, 15}));
  for (const char* heads : {"0", "3", "8", "9223372036854775807"}) {
    change("config.json", cat(R"({"num_key_value_heads": )", heads, "}"));
    EXPECT_THROW(open(), Error) << heads;
  }
}

TEST_F(OneTensor, FirstTwoPositionsOfOptAreDropped) {
  const char* config = R"({"model_type": "opt", "ffn_dim": 8})";
  write_tensor("model.decoder.embed_positions.weight", "F32", {4, 2});
  change("config.json", config);
  EXPECT_EQ(open()->find_tensor("position_embd.weight")->shape, (Ints{2, 2}));
  EXPECT_EQ(floats("position_embd.weight"), (Floats{4, 5, 6, 7}));
  for (const Ints& shape : {Ints{2, 2}, Ints{8}}) {
    write_tensor("model.decoder.embed_positions.weight", "F32", shape);
    change("config.json", config);
    EXPECT_THROW(open(), Error);
  }
}

// The same experts as published folders have them and as newer releases of
// transformers save them.
TEST_F(OneTensor, ExpertsAreReadInBothLayouts) {
  const char* config = R"({"model_type": "qwen3_vl_moe", "hidden_size": 3,
      "num_attention_heads": 1, "head_dim": 2, "moe_intermediate_size": 2})";
  const auto experts = [&](const char* name, const Ints& shape) {
    write_tensor(cat("model.language_model.layers.0.mlp.experts.", name), "F32",
                 shape);
    change("config.json", config);
  };
  experts("gate_up_proj", {1, 4, 3});
  EXPECT_EQ(floats("blk.0.ffn_gate_exps.weight"), (Floats{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(floats("blk.0.ffn_up_exps.weight"), (Floats{6, 7, 8, 9, 10, 11}));
  experts("gate_up_proj", {1, 3, 4});
  EXPECT_EQ(floats("blk.0.ffn_gate_exps.weight"), (Floats{0, 4, 8, 1, 5, 9}));
  EXPECT_EQ(floats("blk.0.ffn_up_exps.weight"), (Floats{2, 6, 10, 3, 7, 11}));
  experts("down_proj", {1, 3, 2});
  EXPECT_EQ(floats("blk.0.ffn_down_exps.weight"), (Floats{0, 1, 2, 3, 4, 5}));
  experts("down_proj", {1, 2, 3});
  EXPECT_EQ(floats("blk.0.ffn_down_exps.weight"), (Floats{0, 3, 1, 4, 2, 5}));
  experts("gate_up_proj", {4, 3});
  EXPECT_THROW(open(), Error);
}

TEST(Config, AliasesAreRead) {
  Config config = Config::parse(
      R"({"num_layers": 3, "size": 1, "old_size": 2, "nothing": null})", "f");
  config.add_alias("num_layers", "num_hidden_layers");
  EXPECT_EQ(config.get_int("num_hidden_layers"), 3);
  EXPECT_EQ(config.get_int("num_layers"), 3);
  config.add_alias("old_size", "size");
  EXPECT_EQ(config.get_int("size"), 1);
  config.add_alias("absent", "other");
  EXPECT_FALSE(config.has("other"));
  config.add_alias("size", "nothing");
  EXPECT_EQ(config.find_int("nothing"), std::nullopt);
}

}  // namespace
}  // namespace rc::folder
