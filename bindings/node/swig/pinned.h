// Memory that devices transfer numbers to and from directly, as ArrayBuffers;
// included by the wrapper alone.
#ifndef RUNCIBLE_NODE_PINNED_H
#define RUNCIBLE_NODE_PINNED_H

#include <napi.h>
#include <runcible/runcible.h>

// Replaces a value of its environment by an ArrayBuffer over the memory, which
// the buffer keeps until it is collected or detached.
inline rc_status runcible_show_pinned(rc_pinned* pinned, Napi::Value* shown) {
  const napi_env env = shown->Env();
  void* data = nullptr;
  size_t size = 0;
  const rc_status status = rc_pinned_memory(pinned, &data, &size);
  if (status != RC_OK) return status;
  const auto let_go = [](napi_env, void*, void* kept) {
    rc_pinned_release(static_cast<rc_pinned*>(kept));
  };
  napi_value buffer = nullptr;
  if (napi_create_external_arraybuffer(env, data, size, let_go,
                                       rc_pinned_retain(pinned),
                                       &buffer) != napi_ok) {
    rc_pinned_release(pinned);
    throw Napi::Error::New(
        env, "this program allows no ArrayBuffers of memory that is not V8's");
  }
  *shown = Napi::Value(env, buffer);
  return RC_OK;
}

// Detaches the buffer, which is then empty.
inline void runcible_hide_pinned(const Napi::Value& shown) {
  napi_detach_arraybuffer(shown.Env(), shown);
}

#endif  // RUNCIBLE_NODE_PINNED_H
