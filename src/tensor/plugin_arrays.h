// The values and ops of a program as a plugin is given them: pointers into the
// arrays that the library keeps, which have to stay as they are meanwhile.
#pragma once

#include <span>
#include <vector>

#include "tensor/op.h"

namespace rc {

class PluginArrays {
 public:
  PluginArrays(std::span<const rc_plugin_value> values,
               std::span<const Op> ops);
  PluginArrays(const PluginArrays&) = delete;
  PluginArrays& operator=(const PluginArrays&) = delete;

  void put_into(rc_plugin_program& program) const;

 private:
  std::vector<const rc_plugin_value*> values_;
  std::vector<rc_plugin_op> ops_;
  std::vector<const rc_plugin_op*> op_pointers_;
};

}  // namespace rc
