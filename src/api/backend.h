// The handle of an opened backend.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "api/device_text.h"
#include "api/handle.h"
#include "api/tenant.h"
#include "compute/tensor.h"
#include "runcible/backend.h"
#include "runtime/device_chain.h"
#include "runtime/explain.h"

struct rc_backend {
  static constexpr rc::api::Kind kKind = rc::api::Kind::kBackend;

  const rc::runtime::DeviceChain chain;
  const std::shared_ptr<rc::api::Tenant> tenant;
  const int64_t timeout_ms;
  const rc::api::DeviceText text;
  const rc::runtime::Explanation explanation;
  const std::shared_ptr<rc::compute::Context> compute;
  // What rc_backend_explain has given so far, which lives as long as the
  // handle.
  std::mutex mutex;
  std::set<std::string> explanations;  // JSON

  // Tensors outlive the handle; what is kept for others does not.
  ~rc_backend() { compute->pool()->close(); }
};
