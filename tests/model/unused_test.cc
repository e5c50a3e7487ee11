// Parts of a file that a program does not use either change nothing, or the
// file is refused by their name.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "model/model_file.h"
#include "model/model_util.h"
#include "model/patient_util.h"
#include "model/unread_keys.h"
#include "test_data.h"

namespace rc::test {
namespace {

// "" if the file is accepted, else the message.
std::string refusal(const Patient& patient) {
  try {
    model::ModelFile::from_gguf(patient.file());
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_UNSUPPORTED) << error.message();
    return error.message();
  }
}

void expect_refusal_to_name(const Patient& patient, const std::string& name) {
  const std::string message = refusal(patient);
  for (const std::string& part : {std::string("patient.gguf"), name}) {
    EXPECT_NE(message.find(part), std::string::npos)
        << part << " is not in: " << message;
  }
}

template <class Value>
Patient with(const std::string& model, const std::string& key, Value value) {
  Patient patient(model);
  patient.set(key, value);
  return patient;
}

Patient with_tensor(const std::string& model, const std::string& name,
                    std::vector<int64_t> shape) {
  Patient patient(model);
  size_t bytes = sizeof(float);
  for (const int64_t size : shape) bytes *= static_cast<size_t>(size);
  patient.add_tensor(
      {name, RC_DTYPE_F32, std::move(shape), std::vector<std::byte>(bytes)});
  return patient;
}

TEST(Unused, TensorsAreRefusedByName) {
  const struct {
    const char* model;
    const char* name;
    std::vector<int64_t> shape;
  } kTensors[] = {
      {"qwen2", "blk.0.ffn_gate.bias", {64}},
      {"qwen2", "blk.1.ffn_down.bias", {64}},
      {"qwen2", "blk.0.attn_output.bias", {64}},
      {"qwen2", "rope_freqs.weight", {8}},
      {"qwen3", "blk.0.attn_q.bias", {96}},
      {"gemma2", "blk.2.ffn_up.bias", {64}},
      {"llama2", "blk.0.attn_q_norm.weight", {16}},
      {"llama2", "blk.0.attn_sinks.weight", {4}},
      {"llama2", "blk.2.attn_norm.weight", {64}},  // of a layer too many
      {"llama2", "output.bias", {272}},
      {"llama2", "output_norm.bias", {64}},
      {"llama2", "blk.0.ffn_up.weight.lora_a", {1}},
      {"mixtral", "blk.0.ffn_gate_inp.bias", {4}},
      {"mixtral", "blk.0.ffn_down_exps.bias", {4, 48}},
      {"mixtral", "blk.1.ffn_up_shexp.weight", {32, 48}},
      {"qwen3moe", "blk.0.exp_probs_b.bias", {6}},
      {"gpt-oss", "blk.0.ffn_norm.weight", {64}},
      {"gemma3", "blk.0.attn_sinks.weight", {2}},
      {"ernie4_5", "blk.1.attn_q.bias", {64}},
      {"bert", "head.weight", {64, 64}},
      {"bert", "blk.0.ffn_gate.weight", {128, 64}},
      {"qwen2", "position_embd.weight", {2048, 64}},
      {"qwen2", "rope_factors_long.weight", {3}},
      {"cohere2", "blk.0.attn_q_norm.weight", {8, 4}},
      {"phi2", "blk.0.attn_q_norm.weight", {16, 2}},
      {"gpt2", "token_types.weight", {2, 32}},
      {"olmo2", "blk.0.attn_norm.weight", {32}},
      {"mamba2", "blk.0.ffn_up.weight", {48, 32}},
  };
  for (const auto& tensor : kTensors) {
    SCOPED_TRACE(tensor.model);
    expect_refusal_to_name(with_tensor(tensor.model, tensor.name, tensor.shape),
                           std::string("'") + tensor.name + "'");
  }
}

TEST(Unused, KeysAreRefusedByName) {
  expect_refusal_to_name(with("llama2", "llama.unheard_of", 1.5f),
                         "'llama.unheard_of' = 1.5");
  expect_refusal_to_name(
      with("llama2", "llama.unheard_of", std::string("x")),
      "'llama.unheard_of' asks for something that is not known");
  expect_refusal_to_name(with("llama2", "llama.attention.causal", false),
                         "'llama.attention.causal' = 0");
  expect_refusal_to_name(with("bert", "bert.attention.causal", true),
                         "'bert.attention.causal' = 1");
  expect_refusal_to_name(with("bert", "bert.rope.freq_base", 1000.0f),
                         "'bert.rope.freq_base' = 1000");
  expect_refusal_to_name(with("llama2", "llama.use_parallel_residual", true),
                         "'llama.use_parallel_residual' = 1");
  expect_refusal_to_name(with("llama2", "llama.logit_scale", 0.25f),
                         "'llama.logit_scale' = 0.25");
  expect_refusal_to_name(with("llama2", "llama.attention.scale", 0.2f),
                         "'llama.attention.scale'");
  expect_refusal_to_name(
      with("qwen2", "qwen2.attention.sliding_window", uint32_t{16}),
      "'qwen2.attention.sliding_window' = 16");
  expect_refusal_to_name(
      with("mixtral", "llama.expert_gating_func", uint32_t{2}),
      "'llama.expert_gating_func' = 2");
  expect_refusal_to_name(with("phi2", "phi2.use_parallel_residual", false),
                         "'phi2.use_parallel_residual' = 0");
  expect_refusal_to_name(
      with("llama2", "llama.leading_dense_block_count", uint32_t{1}),
      "'llama.leading_dense_block_count' = 1 asks for dense layers");
  expect_refusal_to_name(
      with("youtu", "deepseek2.leading_dense_block_count", uint32_t{1}),
      "'deepseek2.leading_dense_block_count' = 1");
  expect_refusal_to_name(
      with("llama2", "general.quantization_version", uint32_t{1}),
      "general.quantization_version");
  expect_refusal_to_name(with("llama2", "split.count", uint16_t{3}),
                         "split.count is 3");
}

nlohmann::json converter_keys() {
  return nlohmann::json::parse(
             std::ifstream(
                 source_path("tests/golden/architectures/converter_keys.json")))
      .at("keys");
}

// Every key that llama.cpp's converters write, or its package knows, is read,
// changes nothing, or is refused with what it says.
TEST(Unused, EveryKeyOfConvertersIsReadOrListed) {
  const nlohmann::json keys = converter_keys();
  ASSERT_GT(keys.size(), 200u);
  for (const char* name : {"llama2", "mixtral", "bert", "gpt2", "granitehybrid",
                           "mamba2", "deepseek2", "gemma3"}) {
    SCOPED_TRACE(name);
    const auto model = model::ModelFile::from_gguf(Patient(name).file());
    const model::HyperParameters& hyper = model->hyper_parameters();
    for (const auto& [key, writers] : keys.items()) {
      SCOPED_TRACE(cat(key, ", written by ", writers.dump()));
      if (key.starts_with("tokenizer.")) continue;
      if (std::ranges::find(hyper.keys, key) != hyper.keys.end()) continue;
      const model::UnreadKey* known = model::find_unread_key(key);
      ASSERT_NE(known, nullptr);
      const std::string full = cat(hyper.architecture, ".", key);
      const std::string message = refusal(with(name, full, std::string("x")));
      // Keys of experts change nothing in models without experts.
      if (!known->changes ||
          (hyper.experts == 0 && key.starts_with("expert_"))) {
        EXPECT_EQ(message, "");
      } else {
        EXPECT_NE(message.find(cat("'", full, "' asks for ", known->reason)),
                  std::string::npos)
            << message;
      }
      for (const double value : known->neutral) {
        EXPECT_EQ(refusal(with(name, full, static_cast<float>(value))), "")
            << value;
      }
    }
  }
}

// The value of a tokenizer's key is no reason to refuse a model; the tokenizer
// may refuse its type.
TEST(Unused, KeysOfTokenizersAreAccepted) {
  const nlohmann::json keys = converter_keys();
  const auto file = Patient("llama2").file();
  for (const auto& [key, writers] : keys.items()) {
    if (!key.starts_with("tokenizer.") || file->find(key) != nullptr) continue;
    const Patient patient = with("llama2", key, std::string("x"));
    try {
      model::ModelFile::from_gguf(patient.file());
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), RC_E_FORMAT) << error.message();
    }
  }
}

// Each name of the table is written by a converter.
TEST(Unused, ListedKeysAreWrittenByConverters) {
  const nlohmann::json keys = converter_keys();
  for (const model::UnreadKey& known : model::unread_keys()) {
    if (known.name == "rope.scale_linear") continue;  // of older files
    const bool some = std::ranges::any_of(keys.items(), [&](const auto& item) {
      return model::find_unread_key(item.key()) == &known;
    });
    EXPECT_TRUE(some) << known.name;
    EXPECT_NE(std::string_view(known.reason), "") << known.name;
    EXPECT_TRUE(known.changes || known.neutral.empty()) << known.name;
  }
}

// Keys of published files.
TEST(Unused, KeysWithoutEffectAreAccepted) {
  const Patient patients[] = {
      with("llama2", "general.base_model.0.name", std::string("x")),
      with("llama2", "general.quantization_version", uint32_t{2}),
      with("llama2", "quantize.imatrix.chunks_count", int32_t{128}),
      with("llama2", "mradermacher.quantized_by", std::string("x")),
      with("llama2", "split.count", uint16_t{1}),
      with("llama2", "qwen2.unheard_of", uint32_t{1}),
      with("llama2", "tokenizer.chat_template", std::string("x")),
      with("llama2", "tokenizer.chat_template.tool_use", std::string("x")),
      with("llama2", "tokenizer.ggml.padding_token_id", uint32_t{2}),
      with("llama2", "tokenizer.ggml.fim_pre_token_id", uint32_t{5}),
      with("llama2", "tokenizer.ggml.unheard_of", true),
      with("llama2", "tokenizer.unheard_of", std::string("x")),
      with("llama2", "llama.attention.causal", true),
      with("llama2", "llama.use_parallel_residual", false),
      with("llama2", "llama.logit_scale", 1.0f),
      with("llama2", "llama.attention.scale", 0.25f),
      with("llama2", "llama.expert_count", uint32_t{0}),
      // The layers of the model are all dense.
      with("llama2", "llama.leading_dense_block_count", uint32_t{2}),
      with("llama2", "llama.expert_weights_scale", 2.5f),
      with("llama2", "llama.rope.scaling.finetuned", true),
      with("llama2", "llama.rope.scale_linear", 1.0f),
      with("llama2", "llama.attention.layer_norm_epsilon", 1e-5f),
      with("modern-bert", "modern-bert.attention.layer_norm_rms_epsilon",
           1e-5f),
      with("modern-bert", "modern-bert.hidden_activation", std::string("gelu")),
      with("nemotron", "nemotron.attention.layer_norm_rms_epsilon", 1e-5f),
      with("llama2", "llama.tensor_data_layout", std::string("Meta AI")),
      with("qwen2", "qwen2.attention.sliding_window", uint32_t{32768}),
      with("qwen3", "qwen3.pooling_type", uint32_t{3}),
      with("mixtral", "llama.expert_gating_func", uint32_t{1}),
      with("mixtral", "llama.expert_weights_norm", true),
      with_tensor("llama2", "blk.0.attn_rot_embd.weight", {8}),
      // A part that generates, where only the encoder is there.
      with_tensor("t5encoder", "dec.blk.0.attn_q.weight", {8}),
      // Tensors for scores, which are another output.
      with_tensor("bert", "cls.weight", {64, 64}),
      with_tensor("qwen3", "cls.output.weight", {2, 64}),
  };
  for (const Patient& patient : patients) EXPECT_EQ(refusal(patient), "");
}

TEST(Unused, TensorsOfAnEncoderAndOfADecoderAreDistinguished) {
  const std::pair<const char*, const char*> kTensors[] = {
      {"llama2", "dec.blk.0.attn_q.weight"},
      {"t5encoder", "enc.blk.0.unheard_of.weight"},
      {"t5encoder", "decoder.weight"},
      {"t5", "dec.blk.0.unheard_of.weight"},
      {"t5", "dec.blk.99.attn_q.weight"}};
  for (const auto& [model, name] : kTensors) {
    SCOPED_TRACE(model);
    expect_refusal_to_name(with_tensor(model, name, {8}),
                           "'" + std::string(name) + "'");
  }
  // Distances of a source, which has none.
  EXPECT_EQ(
      refusal(with_tensor("t5", "dec.blk.0.cross_attn_rel_b.weight", {8})), "");
}

// GLM 4.5 has a layer behind the others that guesses the token after the next.
TEST(Unused, NextTokenPredictionLayersAreNotComputed) {
  Patient patient =
      with_tensor("glm4moe", "blk.3.nextn.eh_proj.weight", {32, 64});
  patient.set("glm4moe.nextn_predict_layers", uint32_t{1});
  patient.set("glm4moe.block_count", uint32_t{4});
  EXPECT_EQ(refusal(patient), "");
  EXPECT_EQ(model::ModelFile::from_gguf(patient.file())
                ->hyper_parameters()
                .layer_count(),
            3);
  patient.add_tensor({"blk.4.nextn.eh_proj.weight",
                      RC_DTYPE_F32,
                      {1},
                      std::vector<std::byte>(4)});
  expect_refusal_to_name(patient, "'blk.4.nextn.eh_proj.weight'");
}

std::vector<float> logits_of(const Patient& patient, const std::string& name) {
  const auto json = nlohmann::json::parse(std::ifstream(
      source_path("tests/golden/architectures/" + name + ".json")));
  return evaluate(
      *load(model::ModelFile::from_gguf(patient.file()), "reference"),
      json.at("tokens").get<std::vector<int32_t>>());
}

// Converters write expert_gating_func where config.json has it, and most of
// these have not: the classes of their models know sigmoids alone.
TEST(Unused, ScoreFunctionOfExpertsIsOptional) {
  for (const std::string name : {"afmoe", "dots1", "glm4moe", "hy-v3", "mimo2",
                                 "minimax-m2", "step35"}) {
    SCOPED_TRACE(name);
    Patient patient(name);
    const std::vector<float> expected = logits_of(patient, name);
    const std::string key =
        cat(*patient.file()->find_string("general.architecture"),
            ".expert_gating_func");
    patient.set(key, uint32_t{0});
    EXPECT_EQ(logits_of(patient, name), expected);
    patient.set(key, uint32_t{1});
    EXPECT_NE(logits_of(patient, name), expected);
  }
}

// Converters end the name of this tensor with ".bias" or do not.
TEST(Unused, BiasOfExpertsIsReadUnderBothNames) {
  for (const std::string name : {"dots1", "ernie4_5-moe", "hy-v3"}) {
    SCOPED_TRACE(name);
    Patient patient(name);
    const std::vector<float> expected = logits_of(patient, name);
    size_t renamed = 0;
    const auto file = Patient(name).file();
    for (const gguf::Tensor& tensor : file->tensors()) {
      const std::string old(tensor.name);
      const size_t at = old.find(".exp_probs_b");
      if (at == std::string::npos) continue;
      patient.tensor(old).name = old.ends_with(".bias")
                                     ? old.substr(0, old.size() - 5)
                                     : old + ".bias";
      ++renamed;
    }
    EXPECT_GT(renamed, 0u);
    EXPECT_EQ(logits_of(patient, name), expected);
  }
}

// Converters write some vectors as the matrix of one row that a folder has.
TEST(Unused, VectorStoredAsOneRowIsAccepted) {
  const struct {
    const char* model;
    const char* end;  // of the tensors' names
    size_t count;
  } kTensors[] = {{"qwen2moe", "ffn_gate_inp_shexp.weight", 2},
                  {"qwen3next", "ffn_gate_inp_shexp.weight", 4},
                  {"ernie4_5-moe", "exp_probs_b.bias", 2},
                  {"glm4moe", "exp_probs_b.bias", 2},
                  {"llama2", "norm.weight", 5}};
  for (const auto& tensors : kTensors) {
    SCOPED_TRACE(tensors.model);
    Patient patient(tensors.model);
    size_t count = 0;
    const auto file = Patient(tensors.model).file();
    for (const gguf::Tensor& tensor : file->tensors()) {
      if (!tensor.name.ends_with(tensors.end)) continue;
      Patient::Tensor& changed = patient.tensor(std::string(tensor.name));
      ASSERT_EQ(changed.shape.size(), 1u);
      changed.shape.insert(changed.shape.begin(), 1);
      ++count;
    }
    EXPECT_EQ(count, tensors.count);
    const auto model =
        load(model::ModelFile::from_gguf(patient.file()), "reference");
    const auto expected = read_floats(source_path(
        cat("tests/golden/architectures/", tensors.model, ".logits.f32")));
    EXPECT_LT(normalized_error(evaluate_case(*model, tensors.model), expected),
              1e-9);
  }
}

// Each of them alone.
TEST(Unused, EachBiasOfALlamaChangesTheLogits) {
  const auto logits = [](const Patient& patient) {
    return evaluate(
        *load(model::ModelFile::from_gguf(patient.file()), "reference"),
        {1, 5, 7});
  };
  const std::vector<float> all = logits(Patient("llama-biases"));
  for (const char* name : {"attn_q", "attn_k", "attn_v", "attn_output",
                           "ffn_gate", "ffn_up", "ffn_down"}) {
    Patient patient("llama-biases");
    patient.drop_tensor(cat("blk.1.", name, ".bias"));
    EXPECT_NE(logits(patient), all) << name;
  }
}

}  // namespace
}  // namespace rc::test
