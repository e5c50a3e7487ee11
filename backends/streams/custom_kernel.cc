#include "streams/custom_kernel.h"

#include <cstddef>
#include <cstring>
#include <vector>

#include "streams/buffer.h"
#include "streams/wait.h"

namespace rc::streams {
namespace {

// The arguments of a kernel, one after the other, each at a multiple of its
// size: those of eight bytes come first.
class Arguments {
 public:
  template <class T>
  void add(T value) {
    const size_t at = bytes_.size();
    bytes_.resize(at + sizeof value);
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }
  void* data() { return bytes_.data(); }
  size_t size() const { return bytes_.size(); }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace

CustomKernel::CustomKernel(StreamDevice& device,
                           const rc_plugin_kernel_info& info,
                           const std::string& image)
    : gpu::CustomKernel(info.buffer_count, info.parameter_words),
      device_(device),
      group_{info.group[0], info.group[1], info.group[2]} {
  Driver& driver = device.driver();
  const Current current(driver);
  end_ = {driver, driver.make_event(/*is_timed=*/false)};
  module_ = driver.load(image.c_str(), info.name);
  try {
    function_ = driver.function(module_, "custom_op");
  } catch (...) {
    driver.end(module_);
    throw;
  }
}

CustomKernel::~CustomKernel() {
  // The code of a kernel that is still running has to stay.
  if (!is_over_) return;
  const MaybeCurrent current(device_.driver());
  if (current) device_.driver().end(module_);
}

bool CustomKernel::run(const gpu::KernelRun& run) {
  Driver& driver = device_.driver();
  const Current current(driver);
  Arguments arguments;
  for (const gpu::Region& tensor : run.tensors) {
    arguments.add(buffer_of(tensor).address());
  }
  for (const gpu::Region& tensor : run.tensors) arguments.add(tensor.offset);
  for (const uint32_t word : run.words) arguments.add(word);
  driver.launch({function_,
                 {run.groups[0], run.groups[1], run.groups[2]},
                 {group_[0], group_[1], group_[2]},
                 arguments.data(),
                 arguments.size()},
                device_.runs());
  is_over_ = false;
  driver.record(end_.get(), device_.runs());
  is_over_ = wait_for(driver, end_.get(), run.timeout_ms);
  return is_over_;
}

}  // namespace rc::streams
