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

}  // namespace rc::model
