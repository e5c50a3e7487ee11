#include "files/folder/architecture.h"

#include "files/folder/architectures/list.h"

namespace rc::folder {
namespace {

constexpr const Architecture* kArchitectures[] = {
    &kLlama,
    &kMistral,
    &kMixtral,
    &kQwen2,
    &kQwen2Moe,
    &kQwen3,
    &kQwen3Moe,
    &kGemma,
    &kGemma2,
    &kGemmaEmbedding,
    &kGemma3Text,
    &kGemma3,
    &kGemma3nText,
    &kGemma3n,
    &kGemma4Text,
    &kGemma4,
    &kGemma4UnifiedText,
    &kGemma4Unified,
    &kGptOss,
    &kSeedOss,
    &kErnie45,
    &kErnie45Moe,
    &kSmolLm3,
    &kPhi,
    &kPhi3,
    &kGlm,
    &kGlm4,
    &kGlm4Moe,
    &kOlmo,
    &kOlmo2,
    &kOlmo3,
    &kOlmoe,
    &kCohere,
    &kCohere2,
    &kExaone4,
    &kHunyuanDense,
    &kHunyuanMoe,
    &kStableLm,
    &kStarCoder2,
    &kGptBigCode,
    &kGpt2,
    &kGptNeoX,
    &kFalcon,
    &kNemotron,
    &kArcee,
    &kDots1,
    &kLlama4Text,
    &kLlama4,
    &kMpt,
    &kBloom,
    &kDeepSeekV2,
    &kDeepSeekV3,
    &kKimiK2,
    &kGranite,
    &kGraniteMoe,
    &kGraniteMoeShared,
    &kGraniteMoeHybrid,
    &kMamba2,
    &kJinaBert,
    &kBert,
    &kLfm2,
    &kLfm2Moe,
    &kNemotronHMoe,
    &kNemotronH,
    &kFalconH1,
    &kMamba,
    &kJamba,
    &kQwen3Next,
    &kQwen35Text,
    &kQwen35,
    &kQwen35MoeText,
    &kQwen35Moe,
    &kRoberta,
    &kXlmRoberta,
    &kCamembert,
    &kNomicBertMoe,
    &kNomicBert,
    &kModernBert,
    &kPhiMoe,
    &kApertus,
    &kMinistral3,
    &kMistral3,
    &kMiniMaxM2,
    &kEuroBert,
    &kBaichuan,
    &kMiniCpm,
    &kMiniCpm3,
    &kInternLm2,
    &kDbrx,
    &kXverse,
    &kOrion,
    &kQwen,
    &kGptJ,
    &kCodeShell,
    &kDeepSeek,
    &kBailingMoe,
    &kT5Encoder,
    &kT5,
    &kMt5Encoder,
    &kMt5,
    &kUmt5Encoder,
    &kUmt5,
};

}  // namespace

const Architecture& find_architecture(const Config& config) {
  const std::string type = config.get_text("model_type");
  std::string known;
  for (const Architecture* architecture : kArchitectures) {
    if (architecture->model_type == type &&
        (architecture->applies == nullptr || architecture->applies(config))) {
      return *architecture;
    }
    if (architecture->applies != nullptr) continue;
    known.append(known.empty() ? "" : ", ").append(architecture->model_type);
  }
  config.refuse(RC_E_UNSUPPORTED, "model_type", " is ", quote(type),
                "; known are ", known);
}

}  // namespace rc::folder
