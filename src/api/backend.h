// The handle of an opened backend.
#pragma once

#include <memory>
#include <string>

#include "api/device_text.h"
#include "api/handle.h"
#include "api/tenant.h"
#include "runcible/backend.h"
#include "runtime/registry.h"

struct rc_backend {
  static constexpr rc::api::Kind kKind = rc::api::Kind::kBackend;

  const std::shared_ptr<rc::runtime::Device> device;
  const std::shared_ptr<rc::api::Tenant> tenant;
  const int64_t timeout_ms;
  const rc::api::DeviceText text;
  const std::string explanation;  // JSON
};
