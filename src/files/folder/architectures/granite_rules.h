// Metadata that the folders of Granite and of models like it share.
#pragma once

#include "files/folder/description.h"

namespace rc::folder {

// Adds the factors of attention, embeddings, of what layers add, and of logits.
void add_granite_factors(Description& model);
void add_granite_experts(Description& model);
// Adds the sizes of layers of Mamba 2.
void add_mamba_sizes(Description& model);

}  // namespace rc::folder
