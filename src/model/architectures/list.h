// The architectures, each defined in the file of its name.
#pragma once

#include "model/architecture.h"

namespace rc::model {

extern const Architecture kLlama;
extern const Architecture kQwen2;
extern const Architecture kQwen3;
extern const Architecture kQwen3Moe;
extern const Architecture kGemma2;
extern const Architecture kGptOss;
extern const Architecture kGemma;
extern const Architecture kGemma3;
extern const Architecture kSeedOss;
extern const Architecture kErnie45;
extern const Architecture kSmolLm3;
extern const Architecture kGranite;
extern const Architecture kGraniteHybrid;
extern const Architecture kBert;
extern const Architecture kOlmo;
extern const Architecture kOlmo2;
extern const Architecture kOlmoe;
extern const Architecture kQwen2Moe;
extern const Architecture kGraniteMoe;
extern const Architecture kHunyuanDense;
extern const Architecture kHunyuanMoe;
extern const Architecture kChatGlm;
extern const Architecture kGlm4;
extern const Architecture kPhi3;
extern const Architecture kPhi2;
extern const Architecture kExaone4;
extern const Architecture kArcee;
extern const Architecture kNemotron;
extern const Architecture kStarCoder;
extern const Architecture kStarCoder2;
extern const Architecture kStableLm;
extern const Architecture kCommandR;
extern const Architecture kCohere2;
extern const Architecture kGpt2;
extern const Architecture kGptNeoX;
extern const Architecture kFalcon;
extern const Architecture kMamba2;
extern const Architecture kErnie45Moe;
extern const Architecture kGlm4Moe;
extern const Architecture kDots1;
extern const Architecture kMpt;
extern const Architecture kBloom;
extern const Architecture kDeepSeek2;
extern const Architecture kLlama4;
extern const Architecture kLfm2;
extern const Architecture kLfm2Moe;
extern const Architecture kNemotronH;
extern const Architecture kFalconH1;
extern const Architecture kMamba;
extern const Architecture kJamba;
extern const Architecture kQwen3Next;
extern const Architecture kQwen35;
extern const Architecture kQwen35Moe;
extern const Architecture kNomicBert;
extern const Architecture kModernBert;
extern const Architecture kPhiMoe;
extern const Architecture kApertus;
extern const Architecture kMistral3;
extern const Architecture kMiniMaxM2;
extern const Architecture kGemmaEmbedding;
extern const Architecture kEuroBert;
extern const Architecture kGemma3n;
extern const Architecture kGemma4;
extern const Architecture kNomicBertMoe;
extern const Architecture kBaichuan;
extern const Architecture kMiniCpm;
extern const Architecture kMiniCpm3;
extern const Architecture kInternLm2;
extern const Architecture kDbrx;
extern const Architecture kJinaBertV2;
extern const Architecture kXverse;
extern const Architecture kOrion;
extern const Architecture kQwen;
extern const Architecture kGptJ;
extern const Architecture kDeepSeek;
extern const Architecture kBailingMoe;
extern const Architecture kCodeShell;
extern const Architecture kRwkv6;
extern const Architecture kRwkv7;

}  // namespace rc::model
