// Streams, events and graphs of a context, owned.
#pragma once

#include <utility>

#include "cuda/api.h"

namespace rc::cuda {

// A handle that `Destroy` ends, in its context.
template <class Handle, CUresult (*Api::*Destroy)(Handle)>
class Owned {
 public:
  Owned() = default;
  Owned(CUcontext context, Handle handle)
      : context_(context), handle_(handle) {}
  Owned(Owned&& other) noexcept
      : context_(other.context_),
        handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() {
    if (handle_ == nullptr) return;
    if (const MaybeCurrent current(context_); current) {
      static_cast<void>((api().*Destroy)(handle_));
    }
  }
  Handle get() const { return handle_; }

 private:
  CUcontext context_ = nullptr;
  Handle handle_ = nullptr;
};

using Stream = Owned<CUstream, &Api::StreamDestroy>;
using Event = Owned<CUevent, &Api::EventDestroy>;
using Graph = Owned<CUgraph, &Api::GraphDestroy>;
using GraphExec = Owned<CUgraphExec, &Api::GraphExecDestroy>;

// The context is current.
inline Stream make_stream(CUcontext context) {
  CUstream stream = nullptr;
  check(api().StreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  return Stream(context, stream);
}
inline Event make_event(CUcontext context, unsigned flags) {
  CUevent event = nullptr;
  check(api().EventCreate(&event, flags), "cuEventCreate");
  return Event(context, event);
}

}  // namespace rc::cuda
