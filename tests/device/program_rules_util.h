// Programs that break the rules of plugin.h, given to a backend directly.
#pragma once

#include <string>
#include <vector>

#include "runcible/plugin.h"
#include "tensor/op.h"

namespace rc::test {

rc_plugin_value value_of(int32_t storage, int32_t index, int64_t first,
                         int64_t second);
Op op_of(int32_t code, std::vector<int32_t> inputs,
         std::vector<int32_t> outputs);

// A program of one LINEAR, [rows, 4] times [3, 4], through scratch to a SCALE
// by 2 and an output, for up to 8 rows. All weights are 1.
class SmallProgram {
 public:
  SmallProgram(const rc_plugin& plugin, rc_plugin_device* device);
  ~SmallProgram();
  SmallProgram(const SmallProgram&) = delete;
  SmallProgram& operator=(const SmallProgram&) = delete;

  // Compiles the program as it is now.
  rc_status compile(rc_plugin_compiled** compiled);
  const char* message() const { return message_; }
  // 64 bytes, the program's only cache.
  rc_plugin_buffer* buffer() const { return buffer_; }

  std::vector<rc_plugin_value> values;
  std::vector<Op> ops;
  rc_plugin_program program = {};

 private:
  const rc_plugin& plugin_;
  rc_plugin_device* device_;
  rc_plugin_weight* weight_ = nullptr;
  rc_plugin_buffer* buffer_ = nullptr;
  char message_[RC_PLUGIN_MESSAGE_BYTES] = "";
};

// A program that is sound compiles, and each of many that are not is a status
// and a message; the device goes on.
void expect_programs_are_checked(const rc_plugin& plugin,
                                 rc_plugin_device* device);
// On the first device of the backend.
void expect_programs_are_checked(const std::string& backend);

}  // namespace rc::test
