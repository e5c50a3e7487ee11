#include "files/folder/pictures.h"

namespace rc::folder {

void add_rope_sections(Description& model) {
  constexpr std::string_view kKey = "mrope_section";
  constexpr size_t kCount = 4;  // of GGUF; a folder has three
  const Config& config = model.config();
  auto rope = config.find_object("rope_parameters");
  if (!rope) rope = config.find_object("rope_scaling");
  if (!rope) return;
  auto sections = rope->find_ints(kKey);
  if (!sections) return;
  if (sections->empty() || sections->size() > kCount) {
    rope->refuse(RC_E_FORMAT, kKey, " has ", sections->size(),
                 " numbers; 1 to ", kCount, " are possible");
  }
  sections->resize(kCount, 0);
  model.add_ints("rope.dimension_sections", *sections);
}

void add_deepstack(Description& model) {
  const auto pictures = model.whole().find_object("vision_config");
  if (!pictures) return;
  if (const auto layers = pictures->find_ints("deepstack_visual_indexes")) {
    model.add_int("n_deepstack_layers", static_cast<int64_t>(layers->size()));
  }
}

}  // namespace rc::folder
