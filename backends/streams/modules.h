// The kernels of a device that were loaded.
//
// Used by one thread at a time.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "streams/driver.h"

namespace rc::streams {

class Modules {
 public:
  // The driver lives longer.
  explicit Modules(Driver& driver) : driver_(driver) {}
  ~Modules();
  Modules(const Modules&) = delete;
  Modules& operator=(const Modules&) = delete;

  // The kernel of a variant that `name` identifies; `image` makes what the
  // driver loads, if it is new. The device is current.
  FunctionHandle function(const std::string& name, const char* kernel,
                          const std::function<std::string()>& image);

 private:
  struct Loaded {
    ModuleHandle module = nullptr;
    FunctionHandle function = nullptr;
  };
  Driver& driver_;
  std::map<std::string, Loaded> loaded_;  // by name
};

}  // namespace rc::streams
