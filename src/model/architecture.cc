#include "model/architecture.h"

#include <iterator>

#include "base/error.h"
#include "base/quote.h"
#include "model/architectures/list.h"
#include "model/tensor_names.h"

namespace rc::model {
std::span<const Architecture* const> known_architectures() {
  return kArchitectures;
}

const Architecture& find_architecture(const gguf::File& file) {
  const std::string_view name = file.get_string("general.architecture");
  for (const Architecture* architecture : kArchitectures) {
    if (architecture->name == name) return *architecture;
  }
  std::string nearest;
  for (const std::string_view one :
       nearest_architectures(file, kArchitectures)) {
    nearest.append(nearest.empty() ? "; its tensors have the names of those of "
                                   : ", ");
    nearest.append(one);
  }
  fail(RC_E_UNSUPPORTED, file.name(), ": architecture ", quote(name),
       " is not known; docs/models.md lists the ", std::size(kArchitectures),
       " that are", nearest);
}

}  // namespace rc::model
