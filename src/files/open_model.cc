#include "files/open_model.h"

#include "base/error.h"
#include "base/folder.h"
#include "files/folder/model_folder.h"
#include "files/gguf/parts.h"

namespace rc {
namespace {

// A file that makes a model only with its neighbours.
bool is_part_of_folder(const std::string& path) {
  return path.ends_with(".safetensors") || path.ends_with(".json");
}

}  // namespace

std::shared_ptr<const gguf::File> open_model(const std::string& path) {
  if (is_folder(path)) return folder::open_folder(path);
  if (is_part_of_folder(path) && is_there(path)) {
    fail(RC_E_FORMAT, path, ": a part of a model; name the folder it is in");
  }
  return gguf::join_parts(gguf::File::open(path));
}

}  // namespace rc
