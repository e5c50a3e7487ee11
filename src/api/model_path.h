// Paths of model files as callers give them.
#pragma once

#include <string>

#include "api/guard.h"
#include "hub/reference.h"
#include "model/builtin.h"

namespace rc::api {

// The path, which messages call `name`, checked as far as that can be done
// without looking at files. See model::file_of for what it means.
inline std::string need_model_path(const char* path,
                                   const char* name = "path") {
  need_pointer(path, name);
  if (*path == '\0') fail(RC_E_INVALID_ARGUMENT, name, ": empty");
  model::check_builtin_name(path);
  if (hub::is_reference(path)) static_cast<void>(hub::parse_reference(path));
  return path;
}

}  // namespace rc::api
