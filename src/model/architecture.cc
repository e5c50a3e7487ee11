#include "model/architecture.h"

#include <iterator>

#include "base/error.h"
#include "base/quote.h"
#include "model/architectures/list.h"
#include "model/tensor_names.h"

namespace rc::model {
namespace {

constexpr const Architecture* kArchitectures[] = {
    &kLlama,          &kQwen2,      &kQwen3,        &kQwen3Moe,
    &kGemma,          &kGemma2,     &kGemma3,       &kGptOss,
    &kSeedOss,        &kErnie45,    &kSmolLm3,      &kGranite,
    &kGraniteHybrid,  &kBert,       &kOlmo,         &kOlmo2,
    &kOlmoe,          &kQwen2Moe,   &kGraniteMoe,   &kHunyuanDense,
    &kHunyuanMoe,     &kChatGlm,    &kGlm4,         &kPhi3,
    &kPhi2,           &kExaone4,    &kArcee,        &kNemotron,
    &kStarCoder,      &kStarCoder2, &kStableLm,     &kCommandR,
    &kCohere2,        &kGpt2,       &kGptNeoX,      &kFalcon,
    &kMamba2,         &kErnie45Moe, &kGlm4Moe,      &kDots1,
    &kAfmoe,          &kHyV3,       &kMiMo2,        &kStep35,
    &kDeepSeek32,     &kGlmDsa,     &kKimiLinear,   &kMpt,
    &kBloom,          &kDeepSeek2,  &kLlama4,       &kLfm2,
    &kLfm2Moe,        &kNemotronH,  &kNemotronHMoe, &kFalconH1,
    &kMamba,          &kJamba,      &kQwen3Next,    &kQwen35,
    &kQwen35Moe,      &kNomicBert,  &kModernBert,   &kPhiMoe,
    &kApertus,        &kMistral3,   &kMiniMaxM2,    &kMiniMax01,
    &kGemmaEmbedding, &kEuroBert,   &kGemma3n,      &kGemma4,
    &kNomicBertMoe,   &kMiniCpm,    &kMiniCpm3,     &kInternLm2,
    &kDbrx,           &kJinaBertV2, &kXverse,       &kOrion,
    &kQwen,           &kGptJ,       &kDeepSeek,     &kBailingMoe,
    &kCodeShell,      &kBaichuan,   &kRwkv6,        &kRwkv7,
    &kQwen2Vl,        &kQwen3Vl,    &kQwen3VlMoe,   &kOpt,
    &kGptNeo,         &kExaone,     &kExaoneMoe,    &kGraniteSwa,
    &kJais2,          &kBitNet,     &kT5Encoder,    &kT5,
    &kBailingMoe2,    &kMellum,     &kCohere2Moe,   &kDots3Note,
    &kLaguna,
};

}  // namespace

std::span<const Architecture* const> known_architectures() {
  return kArchitectures;
}

const Architecture& find_architecture(const gguf::File& file) {
  const std::string_view name = file.get_string("general.architecture");
  for (const Architecture* architecture : kArchitectures) {
    if (architecture->name == name) return *architecture;
  }
  std::string nearest;
  for (const std::string_view one :
       nearest_architectures(file, kArchitectures)) {
    nearest.append(nearest.empty() ? "; its tensors have the names of those of "
                                   : ", ");
    nearest.append(one);
  }
  fail(RC_E_UNSUPPORTED, file.name(), ": architecture ", quote(name),
       " is not known; docs/models.md lists the ", std::size(kArchitectures),
       " that are", nearest);
}

}  // namespace rc::model
