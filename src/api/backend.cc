#include "api/backend.h"

#include <algorithm>
#include <utility>

#include "api/configured.h"
#include "api/guard.h"
#include "api/options.h"
#include "api/progress.h"
#include "api/returned_memory.h"
#include "base/compute_thread.h"
#include "base/config/settings.h"
#include "runtime/backend_spec.h"
#include "runtime/candidates.h"
#include "runtime/profile.h"

namespace rc::api {
namespace {

// More threads than any machine has are a mistake of the caller.
constexpr int32_t kMostThreads = 1024;

}  // namespace

std::unique_ptr<rc_device_list> list_devices(runtime::SearchProgress progress) {
  auto list = std::make_unique<rc_device_list>();
  runtime::Discovery discovery = runtime::discover(std::move(progress));
  list->automatic = std::move(discovery.automatic);
  for (const runtime::BackendReport& backend : discovery.backends) {
    if (backend.devices.empty()) {
      list->devices.emplace_back(backend.name, backend.description,
                                 backend.reason);
    }
    for (size_t i = 0; i < backend.devices.size(); ++i) {
      const runtime::DeviceReport& device = backend.devices[i];
      list->devices.emplace_back(backend.name, backend.description,
                                 static_cast<int32_t>(i), device.info,
                                 device.reason, device.quarantined);
    }
  }
  return list;
}

OpenRequest::OpenRequest(const char* spec, const rc_backend_options* given)
    : OpenRequest(spec, configured(given)) {}

OpenRequest::OpenRequest(const char* spec, const rc_backend_options& configured)
    : options_(configured) {
  need_range(options_.threads, 0, kMostThreads, "options->threads");
  need_at_least_zero(options_.max_requests, "options->max_requests");
  need_at_least_zero(options_.timeout_ms, "options->timeout_ms");
  need_flag(options_.strict, "options->strict");
  need_flag(options_.profile, "options->profile");
  need_range<int32_t>(options_.placement, RC_PLACEMENT_BY_SPEC,
                      RC_PLACEMENT_EACH_OP, "options->placement");
  need_flag(options_.measure, "options->measure");
  need_range<int32_t>(options_.numa, RC_NUMA_AUTO, RC_NUMA_LOCAL,
                      "options->numa");
  need_range<int32_t>(options_.reserved, 0, 0, "options->reserved");
  need_range<int32_t>(options_.reserved2, 0, 0, "options->reserved2");
  if (rc_tenant* const given = std::exchange(options_.tenant, nullptr)) {
    tenant_ = need(given, "options->tenant").tenant;
  }
  if (spec != nullptr) spec_ = spec;
}

std::unique_ptr<rc_backend> OpenRequest::open(
    const std::function<bool()>& stopped) const {
  auto account = std::make_shared<HandleAccount>(
      tenant_ != nullptr ? tenant_ : std::make_shared<Tenant>(),
      options_.max_requests, options_.memory_limit);
  auto opened = open_device(account, stopped);
  const runtime::Device& device = *opened->chain.first();
  account->set_home(*opened->compute, {device.id(), device.is_gpu()});
  rc_backend_options options = options_;
  options.progress = nullptr;
  options.progress_user = nullptr;
  return std::make_unique<rc_backend>(std::move(account), options,
                                      std::move(opened));
}

runtime::DeviceOptions OpenRequest::device_options() const {
  runtime::DeviceOptions options;
  options.threads = options_.threads;
  options.profile = options_.profile != 0;
  options.numa = options_.numa;
  return options;
}

std::shared_ptr<OpenedDevice> OpenRequest::open_device(
    const std::shared_ptr<HandleAccount>& account,
    const std::function<bool()>& stopped) const {
  runtime::Selection selection;
  selection.spec = spec_;
  selection.required_memory = options_.required_memory;
  selection.device = device_options();
  selection.allowed = account->tenant()->devices();
  selection.progress = runtime::SearchProgress([&](double fraction) {
    return !(stopped && stopped()) &&
           report_progress(options_.progress, options_.progress_user, fraction);
  });
  runtime::Selected selected = runtime::select(selection);
  const runtime::Device& device = *selected.device;
  const rc_plugin& plugin = device.plugin();
  const std::string id = device.id();
  const int32_t index = std::stoi(id.substr(id.rfind(':') + 1));
  auto text = std::make_shared<const DeviceText>(
      plugin.name, plugin.description, index, device.info());
  runtime::Explanation explanation(selected);
  runtime::DeviceChain chain(selected.device, std::move(selected.next),
                             options_.strict != 0, selection.allowed);
  auto compute = std::make_shared<compute::Context>(
      chain, account, options_.timeout_ms == 0 ? -1 : options_.timeout_ms);
  auto placement = place(*compute, chain, selected, selection.allowed);
  return std::shared_ptr<OpenedDevice>(new OpenedDevice{
      std::move(chain), std::move(text), std::move(explanation),
      std::move(compute), std::move(placement)});
}

std::shared_ptr<compute::Placement> OpenRequest::place(
    const compute::Context& compute, const runtime::DeviceChain& chain,
    const runtime::Selected& selected,
    const std::vector<runtime::SpecItem>& allowed) const {
  const auto items = runtime::parse_spec(selected.spec);
  const bool automatic =
      std::any_of(items.begin(), items.end(),
                  [](const auto& item) { return item.name == "auto"; });
  if (options_.placement == RC_PLACEMENT_FIRST ||
      (options_.placement == RC_PLACEMENT_BY_SPEC && !automatic)) {
    return nullptr;
  }
  auto devices = runtime::candidate_devices(
      selected.spec, options_.required_memory, selected.candidates);
  std::erase_if(devices, [&](const runtime::ReportedDevice& device) {
    return !runtime::allows(allowed, device);
  });
  const std::string first = chain.first()->id();
  const bool has_first =
      std::any_of(devices.begin(), devices.end(),
                  [&](const auto& device) { return device.id() == first; });
  // With one device there is nothing to choose.
  if (!has_first || devices.size() < 2) return nullptr;
  return compute::Placement::create(std::move(devices), chain, compute.pool(),
                                    compute.timeout_ms(),
                                    options_.measure != 0);
}

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
    const rc::LongTurns turns;
    return rc::api::add_handle(rc::api::list_devices({}));
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
  rc::api::initialise_options(options, size);
}

rc_status rc_set_default_backend(const char* spec) {
  return guard([&] {
    constexpr const char* kName = "backend.spec";
    if (spec == nullptr || *spec == '\0') {
      rc::config::set(kName, std::nullopt);
      return;
    }
    rc::runtime::parse_spec(spec);
    rc::config::set(kName, spec);
  });
}

rc_status rc_backend_open(const char* spec, const rc_backend_options* options,
                          rc_backend** backend) {
  return guard_handle(backend, "backend", [&] {
    const rc::LongTurns turns;
    return rc::api::add_handle(rc::api::OpenRequest(spec, options).open());
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
    rc_backend& handle = need(backend, "backend");
    need_pointer(json, "json");
    const auto now = handle.opened();
    const bool choosing = now->placement != nullptr;
    std::string text = now->explanation.text(
        handle.account->models(),
        choosing ? now->placement->fallbacks() : now->compute->fallbacks(),
        choosing ? now->placement->explanation() : "null");
    const std::lock_guard lock(handle.mutex);
    *json = handle.explanations.insert(std::move(text)).first->c_str();
  });
}

rc_status rc_backend_device(rc_backend* backend, rc_device_report* report) {
  return guard([&] {
    const rc_backend& handle = need(backend, "backend");
    const auto opened = handle.opened();
    const rc_plugin_device_info now = opened->chain.first()->info();
    rc::api::write_report(report, opened->text->report(&now), "report");
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
    const rc::api::HandleAccount& account = *need(backend, "backend").account;
    const rc::engine::Meter& meter = account.engine_account()->meter;
    rc_backend_usage_report usage = RC_BACKEND_USAGE_REPORT_INIT;
    usage.requests = meter.requests;
    usage.prompt_tokens = meter.prompt_tokens;
    usage.cached_tokens = meter.cached_tokens;
    usage.generated_tokens = meter.generated_tokens;
    usage.compute_us = account.compute_us();
    usage.memory = account.memory();
    usage.peak_memory = account.peak_memory();
    rc::api::write_report(report, usage, "report");
  });
}

rc_status rc_backend_trace(rc_backend* backend, char** json) {
  return guard([&] {
    const rc_backend& handle = need(backend, "backend");
    need_pointer(json, "json");
    const auto own = handle.opened()->chain.first()->profile();
    if (own == nullptr) {
      rc::fail(RC_E_UNSUPPORTED,
               "the backend was opened without profile, so there is no trace; "
               "set options->profile or RUNCIBLE_PROFILE=1");
    }
    auto profiles = rc::runtime::Profile::all();
    std::stable_partition(profiles.begin(), profiles.end(),
                          [&](const auto& profile) { return profile == own; });
    *json = rc::api::return_text(rc::runtime::trace_json(profiles)).release();
  });
}
