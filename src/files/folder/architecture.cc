#include "files/folder/architecture.h"

#include "files/folder/architectures/list.h"

namespace rc::folder {

std::span<const Architecture* const> known_architectures() {
  return kArchitectures;
}

const Architecture& find_architecture(const Config& config) {
  const std::string type = config.get_text("model_type");
  const Architecture* found = nullptr;
  for (const Architecture* architecture : kArchitectures) {
    if (architecture->model_type != type) continue;
    if (architecture->applies == nullptr) {
      found = architecture;
    } else if (architecture->applies(config)) {
      return *architecture;
    }
  }
  if (found != nullptr) return *found;
  config.refuse(RC_E_UNSUPPORTED, "model_type", " is ", quote(type),
                ", which is not known; docs/models.md lists those that are");
}

}  // namespace rc::folder
