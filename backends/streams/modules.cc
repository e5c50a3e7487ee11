#include "streams/modules.h"

namespace rc::streams {

Modules::~Modules() {
  const MaybeCurrent current(driver_);
  if (!current) return;
  for (const auto& [name, loaded] : loaded_) driver_.end(loaded.module);
}

FunctionHandle Modules::function(const std::string& name, const char* kernel,
                                 const std::function<std::string()>& image) {
  const auto known = loaded_.find(name);
  if (known != loaded_.end()) return known->second.function;
  const std::string content = image();
  const ModuleHandle module = driver_.load(content.c_str(), name.c_str());
  try {
    const FunctionHandle made = driver_.function(module, kernel);
    loaded_.emplace(name, Loaded{module, made});
    return made;
  } catch (...) {
    driver_.end(module);
    throw;
  }
}

}  // namespace rc::streams
