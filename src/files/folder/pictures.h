// Parts of folders of models that see pictures, of which the engine reads the
// text part.
#pragma once

#include "files/folder/description.h"
#include "files/folder/rules.h"

namespace rc::folder {

// The names of the text part, as newer folders have them.
inline constexpr Rename kTextPartRename = {"model.language_model.", "model."};

// Weights of the part that reads pictures.
inline constexpr Rule kVisualRules[] = {
    {"visual.%", ""},
    {"model.visual.%", ""},
};

// Adds the numbers of pairs of a head that rotate by time, height and width in
// a picture: mrope_section. Readers of the file that see pictures need them.
void add_rope_sections(Description& model);
// Adds the number of layers that add something of pictures, likewise.
void add_deepstack(Description& model);

}  // namespace rc::folder
