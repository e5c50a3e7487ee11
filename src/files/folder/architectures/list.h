// The architectures, each defined in the file of its name.
#pragma once

#include "files/folder/architecture.h"

namespace rc::folder {

extern const Architecture kLlama;
extern const Architecture kMistral;
extern const Architecture kMixtral;
extern const Architecture kQwen2;
extern const Architecture kQwen3;
extern const Architecture kQwen3Moe;
extern const Architecture kGemma;
extern const Architecture kGemma2;
extern const Architecture kGemma3;
extern const Architecture kGemma3Text;
extern const Architecture kGptOss;
extern const Architecture kSeedOss;
extern const Architecture kErnie45;
extern const Architecture kSmolLm3;
extern const Architecture kGranite;
extern const Architecture kGraniteMoeHybrid;
extern const Architecture kBert;

}  // namespace rc::folder
