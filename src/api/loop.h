// The handle of a loop.
#pragma once

#include <memory>

#include "api/handle.h"
#include "engine/loop.h"
#include "runcible/loop.h"

struct rc_loop {
  static constexpr rc::api::Kind kKind = rc::api::Kind::kLoop;
  explicit rc_loop(std::shared_ptr<rc::engine::Loop> loop)
      : loop(std::move(loop)) {}
  ~rc_loop() { loop->abandon(); }
  rc_loop(const rc_loop&) = delete;
  rc_loop& operator=(const rc_loop&) = delete;

  const std::shared_ptr<rc::engine::Loop> loop;
};

namespace rc::api {

// The loop of an argument; NULL means the library's own.
std::shared_ptr<engine::Loop> loop_or_own(rc_loop* loop);

}  // namespace rc::api
