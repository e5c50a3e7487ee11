// What folders of models that see pictures have beside their text part, which
// is what is read.
#pragma once

#include "files/folder/description.h"
#include "files/folder/rules.h"

namespace rc::folder {

// The names of the text part, as newer folders have them.
inline constexpr Rename kTextPartRename = {"model.language_model.", "model."};

// Tensors that read pictures.
inline constexpr Rule kPictureRules[] = {
    {"visual.%", ""},
    {"model.visual.%", ""},
};

// How many pairs of each head rotate by time, height and width in a picture,
// for readers of the file that see pictures: mrope_section.
void add_rope_sections(Description& model);
// How many layers add something of pictures, likewise.
void add_deepstack(Description& model);

}  // namespace rc::folder
