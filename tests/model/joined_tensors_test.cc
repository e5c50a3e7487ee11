// Tensors that newer converters may write as one: queries, keys and values, and
// of experts the gate and the product that it gates.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "model/model_file.h"
#include "model/model_util.h"
#include "model/patient_util.h"
#include "test_data.h"

namespace rc::test {
namespace {

// Puts one tensor in place of others, which for each of so many groups has the
// rows of the first, then those of the second, and so on. They differ in their
// rows alone.
void join(Patient& patient, const std::vector<std::string>& names,
          const std::string& joined, size_t groups = 1) {
  std::vector<Patient::Tensor> parts;
  for (const std::string& name : names) {
    parts.push_back(patient.tensor(name));
    patient.drop_tensor(name);
  }
  Patient::Tensor all = parts[0];
  all.name = joined;
  all.data.clear();
  // The rows of experts are their second dimension.
  const size_t dimension = all.shape.size() == 3 ? 1 : 0;
  all.shape[dimension] = 0;
  for (const Patient::Tensor& part : parts) {
    all.shape[dimension] += part.shape[dimension];
  }
  for (size_t group = 0; group < groups; ++group) {
    for (const Patient::Tensor& part : parts) {
      const auto size = static_cast<ptrdiff_t>(part.data.size() / groups);
      const auto begin =
          part.data.begin() + static_cast<ptrdiff_t>(group) * size;
      all.data.insert(all.data.end(), begin, begin + size);
    }
  }
  patient.add_tensor(std::move(all));
}

void expect_recorded_logits(const Patient& patient, const std::string& name) {
  const auto expected = read_floats(
      source_path(cat("tests/golden/architectures/", name, ".logits.f32")));
  for (const auto& [backend, most] :
       {std::pair{"reference", 1e-9}, {"cpu", 1e-7}}) {
    const auto model =
        load(model::ModelFile::from_gguf(patient.file()), backend);
    EXPECT_LT(normalized_error(evaluate_case(*model, name), expected), most)
        << backend;
  }
}

TEST(JoinedTensors, ExpertsGiveTheSameLogits) {
  const struct {
    const char* model;
    bool shared;  // join those of the expert that is always used, too
  } cases[] = {{"qwen3moe", false}, {"mixtral", false},   {"olmoe", false},
               {"glm4moe", true},   {"qwen2moe", true},   {"deepseek2", true},
               {"jamba", false},    {"hunyuan-moe", true}};
  for (const auto& [name, shared] : cases) {
    SCOPED_TRACE(name);
    Patient patient(name);
    size_t joined = 0;
    const auto file = Patient(name).file();
    for (const gguf::Tensor& tensor : file->tensors()) {
      const std::string gate(tensor.name);
      const size_t at = gate.find("ffn_gate_");
      if (at == gate.npos) continue;
      const std::string prefix = gate.substr(0, at);
      if (gate.ends_with("ffn_gate_exps.weight")) {
        join(patient, {gate, prefix + "ffn_up_exps.weight"},
             prefix + "ffn_gate_up_exps.weight",
             static_cast<size_t>(tensor.shape[0]));
        ++joined;
      } else if (shared && gate.ends_with("ffn_gate_shexp.weight")) {
        join(patient, {gate, prefix + "ffn_up_shexp.weight"},
             prefix + "ffn_up_shexp.weight");
        ++joined;
      }
    }
    EXPECT_GE(joined, shared ? 2u : 1u);
    expect_recorded_logits(patient, name);
  }
}

// A bias of two tensors has no place with them as one.
TEST(JoinedTensors, ExpertsWithBiasesAreRefused) {
  Patient patient("gpt-oss");
  join(patient, {"blk.0.ffn_gate_exps.weight", "blk.0.ffn_up_exps.weight"},
       "blk.0.ffn_gate_up_exps.weight",
       static_cast<size_t>(
           patient.tensor("blk.0.ffn_gate_exps.weight").shape[0]));
  try {
    model::ModelFile::from_gguf(patient.file());
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.message()).find("ffn_gate_exps.bias"),
              std::string::npos)
        << error.message();
  }
}

TEST(JoinedTensors, QueriesKeysAndValuesGiveTheSameLogits) {
  for (const char* name :
       {"llama2", "llama3", "qwen2", "qwen3", "gemma2", "gpt-oss", "granite",
        "exaone", "qwen2vl", "opt", "bert", "minimax-m2", "granitehybrid"}) {
    SCOPED_TRACE(name);
    Patient patient(name);
    size_t joined = 0;
    const auto file = Patient(name).file();
    for (const gguf::Tensor& tensor : file->tensors()) {
      const std::string query(tensor.name);
      for (const char* end : {"attn_q.weight", "attn_q.bias"}) {
        if (!query.ends_with(end)) continue;
        const std::string prefix = query.substr(0, query.rfind("attn_q."));
        const std::string kind = query.substr(query.rfind('.'));
        join(patient,
             {query, cat(prefix, "attn_k", kind), cat(prefix, "attn_v", kind)},
             cat(prefix, "attn_qkv", kind));
        ++joined;
      }
    }
    EXPECT_GE(joined, 1u);
    expect_recorded_logits(patient, name);
  }
}

// Where queries have gates between them, or layers take the keys of others,
// their tensors stay apart.
TEST(JoinedTensors, JoinedQueriesWithGatesOrSharedKeysAreRefused) {
  for (const auto& [name, layer] :
       {std::pair{"gemma4", 0}, {"qwen35", 3}, {"qwen3next", 3}}) {
    SCOPED_TRACE(name);
    Patient patient(name);
    const std::string prefix = cat("blk.", layer, ".attn_");
    join(patient,
         {prefix + "q.weight", prefix + "k.weight", prefix + "v.weight"},
         prefix + "qkv.weight");
    EXPECT_THROW(model::ModelFile::from_gguf(patient.file()), Error);
  }
}

}  // namespace
}  // namespace rc::test
