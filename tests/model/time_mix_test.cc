// Files of RWKV whose models cannot be are refused with what is wrong, and
// shapes that other writers give the same tensors are read.
#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "model/model_file.h"
#include "model/patient_util.h"

namespace rc::test {
namespace {

std::string time_mix_refusal(const char* model,
                             const std::function<void(Patient&)>& inflict) {
  Patient patient(model);
  inflict(patient);
  try {
    model::ModelFile::from_gguf(patient.file());
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_FORMAT);
    return error.message();
  }
  return "accepted";
}

TEST(TimeMix, InvalidValuesAreNamed) {
  const struct {
    const char* model;
    std::function<void(Patient&)> inflict;
    const char* named;
  } kCases[] = {
      {"rwkv7", [](Patient& p) { p.set<uint32_t>("rwkv7.wkv.head_size", 24); },
       "rwkv7.wkv.head_size is 24, but must divide the width of 64"},
      {"rwkv7", [](Patient& p) { p.set<uint32_t>("rwkv7.wkv.head_size", 0); },
       "rwkv7.wkv.head_size is 0, but must be 1 to"},
      {"rwkv7",
       [](Patient& p) { p.set<uint32_t>("rwkv7.attention.iclr_lora_rank", 7); },
       "blk.0.time_mix_a1.weight has shape [6, 64], but the metadata asks for "
       "[7, 64]"},
      {"rwkv7", [](Patient& p) { p.drop("rwkv7.attention.gate_lora_rank"); },
       "rwkv7.attention.gate_lora_rank"},
      {"rwkv7", [](Patient& p) { p.drop("rwkv7.feed_forward_length"); },
       "rwkv7.feed_forward_length"},
      {"rwkv7",
       [](Patient& p) { p.set<uint32_t>("rwkv7.token_shift_count", 3); },
       "rwkv7.token_shift_count is 3, but must be 2 to 2"},
      {"rwkv7",
       [](Patient& p) {
         p.tensor("blk.1.time_mix_lerp_fused.weight").shape = {3, 1, 2, 64};
       },
       "blk.1.time_mix_lerp_fused.weight has shape [3, 1, 2, 64], but the "
       "metadata asks for [6, 64]"},
      {"rwkv7",
       [](Patient& p) {
         p.tensor("blk.2.time_mix_r_k.weight").shape = {2, 32};
       },
       "blk.2.time_mix_r_k.weight has shape [2, 32], but the metadata asks for "
       "[4, 16]"},
      {"rwkv7", [](Patient& p) { p.drop_tensor("blk.1.time_mix_v2.weight"); },
       "blk.1.time_mix_v2.weight of shape [64, 5] is missing"},
      {"rwkv6",
       [](Patient& p) { p.set<uint32_t>("rwkv6.time_mix_extra_dim", 5); },
       "blk.0.time_mix_w1.weight has shape [30, 64], but the metadata asks for "
       "[25, 64]"},
      {"rwkv6",
       [](Patient& p) {
         p.tensor("blk.0.time_mix_w2.weight").shape = {64, 5, 6};
       },
       "blk.0.time_mix_w2.weight has shape [64, 5, 6], but the metadata asks "
       "for [5, 64, 6]"},
      {"rwkv6-halved",
       [](Patient& p) { p.drop_tensor("blk.0.time_mix_lerp_v.weight"); },
       "blk.0.time_mix_lerp_v.weight of shape [64] is missing"},
      {"rwkv6",
       [](Patient& p) { p.set<int32_t>("rwkv6.rescale_every_n_layers", -1); },
       "rwkv6.rescale_every_n_layers is -1"},
  };
  for (const auto& one : kCases) {
    const std::string message = time_mix_refusal(one.model, one.inflict);
    EXPECT_NE(message.find(one.named), std::string::npos) << one.named << "\n"
                                                          << message;
  }
}

TEST(TimeMix, DimensionsOfOneAreOptional) {
  Patient patient("rwkv7");
  patient.tensor("blk.0.time_mix_lerp_fused.weight").shape = {6, 64};
  patient.tensor("blk.1.channel_mix_lerp_k.weight").shape = {64};
  patient.tensor("blk.1.time_mix_r_k.weight").shape = {4, 16};
  EXPECT_NO_THROW(model::ModelFile::from_gguf(patient.file()));
}

}  // namespace
}  // namespace rc::test
