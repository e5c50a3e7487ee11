// The architectures, each defined in the file of its name.
#pragma once

#include "files/folder/architecture.h"

namespace rc::folder {

extern const Architecture kLlama;
extern const Architecture kMistral;
extern const Architecture kMixtral;
extern const Architecture kQwen2;
extern const Architecture kQwen2Moe;
extern const Architecture kQwen3;
extern const Architecture kQwen3Moe;
extern const Architecture kGemma;
extern const Architecture kGemma2;
extern const Architecture kGemma3Text;
extern const Architecture kGemma3;
extern const Architecture kGptOss;
extern const Architecture kSeedOss;
extern const Architecture kErnie45;
extern const Architecture kErnie45Moe;
extern const Architecture kSmolLm3;
extern const Architecture kPhi;
extern const Architecture kPhi3;
extern const Architecture kGlm;
extern const Architecture kGlm4;
extern const Architecture kGlm4Moe;
extern const Architecture kOlmo;
extern const Architecture kOlmo2;
extern const Architecture kOlmo3;
extern const Architecture kOlmoe;
extern const Architecture kCohere;
extern const Architecture kCohere2;
extern const Architecture kExaone4;
extern const Architecture kHunyuanDense;
extern const Architecture kHunyuanMoe;
extern const Architecture kStableLm;
extern const Architecture kStarCoder2;
extern const Architecture kGptBigCode;
extern const Architecture kGpt2;
extern const Architecture kGptNeoX;
extern const Architecture kFalcon;
extern const Architecture kNemotron;
extern const Architecture kArcee;
extern const Architecture kDots1;
extern const Architecture kLlama4Text;
extern const Architecture kLlama4;
extern const Architecture kMpt;
extern const Architecture kBloom;
extern const Architecture kDeepSeekV2;
extern const Architecture kDeepSeekV3;
extern const Architecture kKimiK2;
extern const Architecture kGranite;
extern const Architecture kGraniteMoe;
extern const Architecture kGraniteMoeShared;
extern const Architecture kGraniteMoeHybrid;
extern const Architecture kMamba2;
extern const Architecture kBert;
extern const Architecture kLfm2;
extern const Architecture kLfm2Moe;
extern const Architecture kNemotronH;
extern const Architecture kFalconH1;
extern const Architecture kMamba;
extern const Architecture kJamba;
extern const Architecture kQwen3Next;
extern const Architecture kQwen35Text;
extern const Architecture kQwen35;
extern const Architecture kQwen35MoeText;
extern const Architecture kQwen35Moe;
extern const Architecture kRoberta;
extern const Architecture kXlmRoberta;
extern const Architecture kCamembert;
extern const Architecture kNomicBert;
extern const Architecture kModernBert;
extern const Architecture kPhiMoe;
extern const Architecture kApertus;
extern const Architecture kMinistral3;
extern const Architecture kMistral3;
extern const Architecture kMiniMaxM2;
extern const Architecture kGemmaEmbedding;
extern const Architecture kEuroBert;

}  // namespace rc::folder
