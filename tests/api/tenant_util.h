// Tenants for tests.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "api/api_util.h"

namespace rc::test {

using Tenant = std::unique_ptr<rc_tenant, Release<rc_tenant_release>>;

inline Tenant make_tenant(
    const char* name, const std::function<void(rc_tenant_options&)>& set = {}) {
  rc_tenant_options options = RC_TENANT_OPTIONS_INIT;
  options.name = name;
  if (set) set(options);
  rc_tenant* tenant = nullptr;
  EXPECT_OK(rc_tenant_create(&options, &tenant));
  return Tenant(tenant);
}

inline Backend open_for(rc_tenant* tenant, const char* spec = "reference") {
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.tenant = tenant;
  rc_backend* backend = nullptr;
  EXPECT_OK(rc_backend_open(spec, &options, &backend));
  return Backend(backend);
}

inline rc_tenant_usage_report usage_of(rc_tenant* tenant) {
  rc_tenant_usage_report usage = RC_TENANT_USAGE_REPORT_INIT;
  EXPECT_OK(rc_tenant_usage(tenant, &usage));
  return usage;
}

inline std::string device_id(rc_backend* backend) {
  rc_device_report device = RC_DEVICE_REPORT_INIT;
  EXPECT_OK(rc_backend_device(backend, &device));
  return device.id;
}

// The status of a small op.
inline rc_status add_on(rc_backend* backend) {
  const int64_t shape[] = {1000};
  rc_tensor* ones = nullptr;
  rc_tensor* sum = nullptr;
  EXPECT_OK(rc_tensor_ones(backend, RC_DTYPE_F32, shape, 1, &ones));
  const rc_status status = rc_op_add(ones, ones, &sum);
  rc_tensor_release(ones);
  rc_tensor_release(sum);
  return status;
}

}  // namespace rc::test
