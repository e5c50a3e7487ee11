// Backends that are given by functions for single ops; see op_backend.h of the
// public headers. To the rest of the library they are plugins like any other.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "runcible/op_backend.h"
#include "runcible/plugin.h"

namespace rc::runtime {

// See rc_op_backend_register and rc_op_backend_unregister.
void register_op_backend(const rc_op_backend& given);
void unregister_op_backend(std::string_view name);

// A registered backend, kept by the registration and by everything that is
// open.
class OpBackend {
 public:
  explicit OpBackend(const rc_op_backend& given);
  ~OpBackend();
  OpBackend(const OpBackend&) = delete;
  OpBackend& operator=(const OpBackend&) = delete;

  const rc_op_backend& functions() const { return functions_; }
  const std::string& name() const { return name_; }
  const std::string& description() const { return description_; }
  // Asks for the health, and remembers what it said.
  rc_status ask_health(char* message);
  void describe(rc_plugin_device_info& info) const;
  // It is registered, so that `release` is to be called at its end.
  void accept() { accepted_ = true; }

 private:
  const rc_op_backend functions_;  // its texts are the caller's
  const std::string name_;
  const std::string description_;
  const std::string device_name_;
  const std::string features_;
  bool accepted_ = false;
  mutable std::mutex mutex_;
  std::string said_;  // with the last health that was good
};

namespace op_backends {

// The functions of a table that serve every opened device, with the seven for
// memory; those that need to know the backend are not set.
rc_plugin table();

// For rc_plugin.open.
rc_status open(std::shared_ptr<OpBackend> backend, rc_plugin_device** device,
               char* message);

}  // namespace op_backends
}  // namespace rc::runtime
