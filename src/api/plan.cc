#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/guard.h"
#include "api/model.h"
#include "api/model_memory.h"
#include "api/options.h"
#include "files/convert.h"
#include "model/sketch.h"

struct rc_plan {
  static constexpr rc::api::Kind kKind = rc::api::Kind::kPlan;
  rc_plan_report report = RC_PLAN_REPORT_INIT;
  std::vector<std::string> names;  // of the devices
  std::vector<rc_plan_device_report> devices;
  std::vector<rc::engine::Offer> offered;  // whose texts the reports show
  std::vector<rc_plan_offer_report> offers;
};

namespace rc::api {
namespace {

rc_plan_device_report device_report(const model::DeviceMemory& here,
                                    uint64_t available) {
  rc_plan_device_report report = RC_PLAN_DEVICE_REPORT_INIT;
  report.weights = here.weights - here.shared;
  report.cache = here.cache + here.states;
  report.scratch = here.scratch;
  report.total = here.added();
  report.available = available;
  report.first_layer = static_cast<int32_t>(here.first_layer);
  report.layers = static_cast<int32_t>(here.layers);
  report.embedding = here.embedding ? 1 : 0;
  report.output = here.output ? 1 : 0;
  const rc_plugin_device_info info = here.device->info();
  report.huge_pages = info.huge_pages;
  if (info.huge_pages == RC_HUGE_PAGES_MADVISE ||
      info.huge_pages == RC_HUGE_PAGES_ALWAYS) {
    report.huge_page_weights = here.huge_page_weights;
  }
  report.experts = here.expert_layers > 0 ? 1 : 0;
  report.expert_layers = static_cast<int32_t>(here.expert_layers);
  report.numa = runtime::numa_on(here.device->options().numa, info.numa_nodes);
  return report;
}

rc_plan_offer_report offer_report(const engine::Offer& offer) {
  rc_plan_offer_report report = RC_PLAN_OFFER_REPORT_INIT;
  report.value = offer.value.c_str();
  report.summary = offer.text.c_str();
  report.total = offer.total;
  report.mapped = offer.mapped;
  report.context_length = offer.context_length;
  report.option = offer.option.c_str();
  return report;
}

std::unique_ptr<rc_plan> make_plan(const engine::Plan& plan,
                                   std::vector<engine::Offer> offers) {
  auto made = std::make_unique<rc_plan>();
  for (size_t i = 0; i < plan.memory.devices.size(); ++i) {
    const model::DeviceMemory& here = plan.memory.devices[i];
    // The first one is always listed, of the others those in use.
    if (i > 0 && here.total() == 0) continue;
    made->names.push_back(here.device->id());
    made->devices.push_back(device_report(here, plan.device_available[i]));
  }
  for (size_t i = 0; i < made->names.size(); ++i) {
    made->devices[i].device = made->names[i].c_str();
  }
  made->offered = std::move(offers);
  for (const engine::Offer& offer : made->offered) {
    made->offers.push_back(offer_report(offer));
  }
  rc_plan_report& report = made->report;
  report.weights = plan.memory.weights - plan.memory.shared;
  report.cache = plan.memory.cache + plan.memory.states;
  report.scratch = plan.memory.scratch;
  report.total = plan.memory.added();
  report.transfers = plan.memory.transfers;
  report.available = plan.available;
  report.context_length = plan.context_length;
  report.cache_tokens = plan.cache_tokens;
  report.largest_context = plan.largest_context;
  report.device_count = static_cast<int32_t>(made->devices.size());
  report.fits = plan.fits ? 1 : 0;
  report.cache_dtype_name = dtype_name(plan.cache_dtype);
  report.offer_count = static_cast<int32_t>(made->offers.size());
  return made;
}

}  // namespace
}  // namespace rc::api

using rc::api::guard;
using rc::api::guard_handle;
using rc::api::need;

namespace {

rc_plan* plan_of(const rc::api::LoadRequest& request) {
  const auto file = request.open();
  const rc::engine::EngineOptions limited = request.limited_options();
  const rc::engine::Plan made = rc::engine::plan(*file, request.chain, limited);
  return rc::api::add_handle(rc::api::make_plan(
      made, rc::engine::offers(*file, request.chain, limited, made)));
}

}  // namespace

rc_status rc_model_plan(const char* path, const rc_model_options* options,
                        rc_backend* backend, rc_plan** plan) {
  return guard_handle(plan, "plan", [&] {
    return plan_of(rc::api::LoadRequest(backend, path, options));
  });
}

rc_status rc_model_plan_memory(const rc_model_memory* memory,
                               const rc_model_options* options,
                               rc_backend* backend, rc_plan** plan) {
  using rc::api::ModelMemory;
  return rc::api::guard_memory(
      memory, plan, "plan", [&](const ModelMemory& given) {
        return plan_of(rc::api::LoadRequest(backend, given.look(), options));
      });
}

rc_status rc_model_estimate(const char* hyper_parameters, const char* type,
                            const rc_model_options* options,
                            rc_backend* backend, rc_plan** plan) {
  return guard_handle(plan, "plan", [&] {
    rc::api::need_pointer(hyper_parameters, "hyper_parameters");
    const std::string of = type == nullptr ? "" : type;
    if (!of.empty()) rc::check_conversion({.type = of});
    rc::api::LoadRequest request(backend, options);
    request.given =
        rc::model::sketch_file(hyper_parameters, of, request.output);
    return plan_of(request);
  });
}

rc_plan* rc_plan_retain(rc_plan* plan) {
  return rc::api::retain_handle(plan, "plan");
}

void rc_plan_release(rc_plan* plan) { rc::api::release_handle(plan, "plan"); }

void rc_plan_report_init(rc_plan_report* report, size_t size) {
  rc::api::initialise(report, size, rc_plan_report RC_PLAN_REPORT_INIT);
}

rc_status rc_plan_describe(rc_plan* plan, rc_plan_report* report) {
  return guard([&] {
    rc::api::write_report(report, need(plan, "plan").report, "report");
  });
}

void rc_plan_device_report_init(rc_plan_device_report* report, size_t size) {
  rc::api::initialise(report, size,
                      rc_plan_device_report RC_PLAN_DEVICE_REPORT_INIT);
}

rc_status rc_plan_device(rc_plan* plan, size_t i,
                         rc_plan_device_report* report) {
  return guard([&] {
    const rc_plan& made = need(plan, "plan");
    if (i >= made.devices.size()) {
      rc::fail(RC_E_INVALID_ARGUMENT, "i: ", i, ", but the plan has ",
               made.devices.size(), " devices");
    }
    rc::api::write_report(report, made.devices[i], "report");
  });
}

void rc_plan_offer_report_init(rc_plan_offer_report* report, size_t size) {
  rc::api::initialise(report, size,
                      rc_plan_offer_report RC_PLAN_OFFER_REPORT_INIT);
}

rc_status rc_plan_offer(rc_plan* plan, size_t i, rc_plan_offer_report* report) {
  return guard([&] {
    const rc_plan& made = need(plan, "plan");
    if (i >= made.offers.size()) {
      rc::fail(RC_E_INVALID_ARGUMENT, "i: ", i, ", but the plan has ",
               made.offers.size(), " offers");
    }
    rc::api::write_report(report, made.offers[i], "report");
  });
}
