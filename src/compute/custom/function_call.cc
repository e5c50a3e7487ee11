#include "compute/custom/function_call.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>

#include "base/error.h"
#include "base/time_limit.h"

namespace rc::compute {
namespace {

using Clock = std::chrono::steady_clock;

class FunctionCall {
 public:
  FunctionCall(const CustomCall& call, std::span<void* const> memory,
               const CustomStop& stop, int64_t timeout_ms)
      : call_(call), stop_(stop), limited_(timeout_ms >= 0) {
    end_ = time_after(std::max<int64_t>(timeout_ms, 0));
    const size_t inputs = call.inputs().size();
    for (size_t i = 0; i < call.values.size(); ++i) {
      const CustomValue& value = call.values[i];
      rc_op_value& made = values_[i];
      made.struct_size = sizeof made;
      made.dtype = value.dtype;
      made.rank = static_cast<int32_t>(value.shape.size());
      std::copy(value.shape.begin(), value.shape.end(), made.shape);
      made.data = memory[i];
      made.bytes = value.bytes;
      made.storage = RC_STORAGE_CACHE;
      made.writable = i < inputs ? 0 : 1;
      pointers_[i] = &made;
    }
    given_.struct_size = sizeof given_;
    given_.name = call.op->name().c_str();
    given_.inputs = pointers_;
    given_.input_count = inputs;
    given_.outputs = pointers_ + inputs;
    given_.output_count = call.outputs().size();
    given_.attributes = call.attributes.data();
    given_.attribute_count = call.attributes.size();
    given_.should_stop = [](void* self) {
      return static_cast<FunctionCall*>(self)->stopped() ? 1 : 0;
    };
    given_.stop_user = this;
  }
  FunctionCall(const FunctionCall&) = delete;
  FunctionCall& operator=(const FunctionCall&) = delete;

  static void range(void* self, int64_t begin, int64_t end) {
    static_cast<FunctionCall*>(self)->compute(begin, end);
  }

  // Throws how it went.
  void check(int64_t timeout_ms) {
    const std::string& name = call_.op->name();
    if (late_ && (status_ == RC_OK || status_ == RC_E_CANCELLED)) {
      fail(RC_E_TIMEOUT, name, ": the function was not over after ", timeout_ms,
           " ms");
    }
    if (status_ == RC_OK) {
      if (!stopped_) return;
      fail(RC_E_CANCELLED, name, ": asked to stop");
    }
    const bool known = status_ < 0 && status_ >= RC_E_INTERNAL;
    fail(known ? status_ : RC_E_INVALID_ARGUMENT, name, ": the function failed",
         known ? "" : cat(" with status ", status_), ": ",
         message_[0] == '\0' ? "it does not say why" : message_);
  }

 private:
  void compute(int64_t begin, int64_t end) {
    if (failed_ || stopped()) return;
    rc_custom_call part = given_;
    part.begin = begin;
    part.end = end;
    char message[RC_OP_BACKEND_MESSAGE_BYTES] = {};
    const rc_status status = call_.op->compute(part, message);
    if (status == RC_OK || failed_.exchange(true)) return;
    // The first failure is reported.
    message[sizeof message - 1] = '\0';
    std::copy(std::begin(message), std::end(message), message_);
    status_ = status;
  }

  bool stopped() {
    if (limited_ && Clock::now() >= end_) late_ = true;
    if (stop_.wanted != nullptr && stop_.wanted(stop_.user) != 0) {
      stopped_ = true;
    }
    return late_ || stopped_ || failed_;
  }

  const CustomCall& call_;
  const CustomStop stop_;
  const bool limited_;
  Clock::time_point end_;
  rc_op_value values_[RC_CUSTOM_OP_MAX_INPUTS + RC_CUSTOM_OP_MAX_OUTPUTS] = {};
  const rc_op_value*
      pointers_[RC_CUSTOM_OP_MAX_INPUTS + RC_CUSTOM_OP_MAX_OUTPUTS] = {};
  rc_custom_call given_ = {};
  std::atomic<bool> failed_{false};
  std::atomic<bool> late_{false};
  std::atomic<bool> stopped_{false};
  // Of who failed first; read when all ranges are done.
  rc_status status_ = RC_OK;
  char message_[RC_OP_BACKEND_MESSAGE_BYTES] = {};
};

}  // namespace

void call_function(const CustomCall& call, runtime::Device& device,
                   std::span<void* const> memory, const CustomStop& stop,
                   int64_t timeout_ms, int64_t& spent_ns) {
  const int64_t items = call.op->items(call);
  FunctionCall work(call, memory, stop, timeout_ms);
  device.run_ranges(items, FunctionCall::range, &work, spent_ns);
  work.check(timeout_ms);
}

}  // namespace rc::compute
