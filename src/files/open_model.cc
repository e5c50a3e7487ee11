#include "files/open_model.h"

#include "base/folder.h"
#include "files/hub/model_folder.h"

namespace rc {

std::shared_ptr<const gguf::File> open_model(const std::string& path) {
  return is_folder(path) ? hub::open_folder(path) : gguf::File::open(path);
}

}  // namespace rc
