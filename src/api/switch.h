// Changing the device of a backend handle in place.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/backend.h"
#include "api/model.h"

namespace rc::api {

// The arguments of rc_backend_switch, checked. It keeps the objects that it
// works with, but for the handle itself, which the caller keeps.
class SwitchRequest {
 public:
  SwitchRequest(rc_backend* backend, const char* spec,
                const rc_backend_switch_options* options);

  // `stopped` may be empty. After a failure, which it throws, everything is as
  // it was.
  void run(rc_backend& backend, const std::function<bool()>& stopped) const;

 private:
  class Work;
  const rc_backend_switch_options options_;
  const OpenRequest open_;
};

}  // namespace rc::api
