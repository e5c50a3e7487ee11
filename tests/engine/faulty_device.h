// A backend "faulty": the cpu backend with faults that a test injects.
#pragma once

#include <atomic>
#include <memory>

#include "runtime/device.h"

namespace rc::engine::test {

enum class Fault {
  kNone,
  kError,       // a run fails with RC_E_DEVICE
  kErrorAtEnd,  // the same when all of it is done
  kLost,        // a run fails with RC_E_DEVICE_LOST
  kHang,        // a run is not over in time
  kNonsense,    // the logits are not numbers
  kSlow,        // a run lasts until it is asked to stop, at most ten seconds
};

struct FaultControl {
  std::atomic<Fault> fault{Fault::kNone};
  std::atomic<int> runs{0};       // begun so far
  std::atomic<int> cancelled{0};  // ended because they were asked to
  std::atomic<int> weights{0};    // that exist
};
FaultControl& fault_control();

// With no fault. One test at a time.
std::shared_ptr<runtime::Device> open_faulty_device();

}  // namespace rc::engine::test
