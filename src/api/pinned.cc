// Memory of the host's that devices move numbers from and to by themselves.
#include "runtime/pinned.h"

#include <memory>
#include <utility>

#include "api/backend.h"
#include "api/guard.h"
#include "api/handle.h"
#include "api/tensor_context.h"
#include "runcible/tensor.h"

struct rc_pinned {
  static constexpr rc::api::Kind kKind = rc::api::Kind::kPinned;

  rc_pinned(const rc::compute::Context& context, uint64_t bytes)
      : paid(context.pool()->account(), bytes),
        memory(context.device(), bytes) {
    paid.use();
  }

  rc::compute::Paid paid;
  const rc::runtime::Pinned memory;
};

rc_status rc_pinned_create(rc_backend* backend, const char* device_id,
                           size_t bytes, rc_pinned** pinned) {
  return rc::api::guard_handle(pinned, "pinned", [&] {
    const rc_backend& handle = rc::api::need(backend, "backend");
    if (bytes == 0) {
      rc::fail(RC_E_INVALID_ARGUMENT, "bytes: 0; at least 1 is needed");
    }
    const auto context = rc::api::context_of(handle, device_id);
    return rc::api::add_handle(std::make_unique<rc_pinned>(*context, bytes));
  });
}

rc_pinned* rc_pinned_retain(rc_pinned* pinned) {
  return rc::api::retain_handle(pinned, "pinned");
}

void rc_pinned_release(rc_pinned* pinned) {
  rc::api::release_handle(pinned, "pinned");
}

rc_status rc_pinned_memory(rc_pinned* pinned, void** data, size_t* bytes) {
  return rc::api::guard([&] {
    const rc_pinned& found = rc::api::need(pinned, "pinned");
    if (data != nullptr) *data = found.memory.data();
    if (bytes != nullptr) *bytes = static_cast<size_t>(found.memory.bytes());
  });
}
