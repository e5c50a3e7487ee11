#include "api/backend.h"

#include <vector>

#include "api/guard.h"
#include "api/options.h"
#include "runtime/explain.h"

struct rc_device_list {
  static constexpr rc::api::Kind kKind = rc::api::Kind::kDeviceList;
  std::vector<rc::api::DeviceText> devices;
  std::string automatic;
};

namespace rc::api {
namespace {

constexpr rc_backend_options kBackendDefaults = RC_BACKEND_OPTIONS_INIT;
// More threads than any machine has are a mistake of the caller.
constexpr int32_t kMostThreads = 1024;

std::unique_ptr<rc_device_list> list_devices() {
  auto list = std::make_unique<rc_device_list>();
  runtime::Discovery discovery = runtime::discover();
  list->automatic = std::move(discovery.automatic);
  for (const runtime::BackendReport& backend : discovery.backends) {
    if (backend.devices.empty()) {
      list->devices.emplace_back(backend.name, backend.description,
                                 backend.reason);
    }
    for (size_t i = 0; i < backend.devices.size(); ++i) {
      list->devices.emplace_back(backend.name, backend.description,
                                 static_cast<int32_t>(i), backend.devices[i]);
    }
  }
  return list;
}

rc_backend* open_backend(const char* spec, const rc_backend_options& options) {
  need_range(options.threads, 0, kMostThreads, "options->threads");
  need_at_least_zero(options.max_requests, "options->max_requests");
  need_at_least_zero(options.timeout_ms, "options->timeout_ms");
  runtime::Selection selection;
  selection.spec = spec == nullptr ? "" : spec;
  selection.required_memory = options.required_memory;
  selection.device.threads = options.threads;
  runtime::Selected selected = runtime::select(selection);
  const runtime::Device& device = *selected.device;
  const rc_plugin& plugin = device.plugin();
  const std::string id = device.id();
  const int32_t index = std::stoi(id.substr(id.rfind(':') + 1));
  DeviceText text(plugin.name, plugin.description, index, device.info());
  std::string explanation = runtime::explain(selected);
  return add_handle(std::unique_ptr<rc_backend>(new rc_backend{
      selected.device,
      std::make_shared<Tenant>(options.max_requests, options.memory_limit),
      options.timeout_ms, std::move(text), std::move(explanation)}));
}

}  // namespace
}  // namespace rc::api

using rc::api::guard;
using rc::api::guard_handle;
using rc::api::need;
using rc::api::need_pointer;

void rc_device_report_init(rc_device_report* report, size_t size) {
  rc::api::initialise(report, size, rc_device_report RC_DEVICE_REPORT_INIT);
}

rc_status rc_discover(rc_device_list** list) {
  return guard_handle(list, "list", [] {
    return rc::api::add_handle(rc::api::list_devices());
  });
}

size_t rc_device_list_count(const rc_device_list* list) {
  size_t count = 0;
  if (list != nullptr) {
    static_cast<void>(
        guard([&] { count = need(list, "list").devices.size(); }));
  }
  return count;
}

rc_status rc_device_list_get(const rc_device_list* list, size_t i,
                             rc_device_report* report) {
  return guard([&] {
    const rc_device_list& devices = need(list, "list");
    if (i >= devices.devices.size()) {
      rc::fail(RC_E_INVALID_ARGUMENT, "i: ", i, ", but the list has ",
               devices.devices.size(), " reports");
    }
    rc::api::write_report(report, devices.devices[i].report(), "report");
  });
}

const char* rc_device_list_automatic(const rc_device_list* list) {
  const char* automatic = "";
  static_cast<void>(
      guard([&] { automatic = need(list, "list").automatic.c_str(); }));
  return automatic;
}

void rc_device_list_release(rc_device_list* list) {
  rc::api::release_handle(list, "list");
}

void rc_backend_options_init(rc_backend_options* options, size_t size) {
  rc::api::initialise(options, size, rc::api::kBackendDefaults);
}

rc_status rc_backend_open(const char* spec, const rc_backend_options* options,
                          rc_backend** backend) {
  return guard_handle(backend, "backend", [&] {
    return rc::api::open_backend(
        spec,
        rc::api::read_options(options, rc::api::kBackendDefaults, "options"));
  });
}

rc_backend* rc_backend_retain(rc_backend* backend) {
  return rc::api::retain_handle(backend, "backend");
}

void rc_backend_release(rc_backend* backend) {
  rc::api::release_handle(backend, "backend");
}

rc_status rc_backend_explain(rc_backend* backend, const char** json) {
  return guard([&] {
    const rc_backend& handle = need(backend, "backend");
    need_pointer(json, "json");
    *json = handle.explanation.c_str();
  });
}

rc_status rc_backend_device(rc_backend* backend, rc_device_report* report) {
  return guard([&] {
    const rc_backend& handle = need(backend, "backend");
    const rc_plugin_device_info now = handle.device->info();
    rc::api::write_report(report, handle.text.report(&now), "report");
  });
}

void rc_backend_usage_report_init(rc_backend_usage_report* report,
                                  size_t size) {
  rc::api::initialise(report, size,
                      rc_backend_usage_report RC_BACKEND_USAGE_REPORT_INIT);
}

rc_status rc_backend_usage(rc_backend* backend,
                           rc_backend_usage_report* report) {
  return guard([&] {
    const rc::api::Tenant& tenant = *need(backend, "backend").tenant;
    const rc::engine::Meter& meter = *tenant.meter();
    rc_backend_usage_report usage = RC_BACKEND_USAGE_REPORT_INIT;
    usage.requests = meter.requests;
    usage.prompt_tokens = meter.prompt_tokens;
    usage.cached_tokens = meter.cached_tokens;
    usage.generated_tokens = meter.generated_tokens;
    usage.compute_us = meter.compute_us;
    usage.memory = tenant.memory();
    usage.peak_memory = tenant.peak_memory();
    rc::api::write_report(report, usage, "report");
  });
}
