// Devices, backends, switching and plugins.
#include <atomic>

#include "runcible/plugin.h"
#include "runtime/plugin_list.h"
#include "scenarios.h"

namespace rc::test {
namespace {

void backend_end(void* user, rc_status status, const char*,
                 rc_backend* backend) {
  rc_backend_release(backend);
  static_cast<End*>(user)->receive(status);
}

void switch_end(void* user, rc_status status, const char*) {
  static_cast<End*>(user)->receive(status);
}

rc_status discovery(World& world) {
  rc_device_list* list = nullptr;
  RC_TRY(RC_CALL(rc_discover)(&list));
  rc_status status = RC_OK;
  for (size_t i = 0; status == RC_OK && i < RC_CALL(rc_device_list_count)(list);
       ++i) {
    rc_device_report report = RC_DEVICE_REPORT_INIT;
    status = RC_CALL(rc_device_list_get)(list, i, &report);
  }
  EXPECT_NE(RC_CALL(rc_device_list_automatic)(list), nullptr);
  RC_CALL(rc_device_list_release)(list);
  RC_TRY(status);
  End end;
  return await(
      RC_CALL(rc_discover_async)(
          nullptr, nullptr, world.loop.get(),
          [](void* user, rc_status status, const char*, rc_device_list* found) {
            rc_device_list_release(found);
            static_cast<End*>(user)->receive(status);
          },
          &end),
      world.loop.get(), end);
}

rc_status backends(World& world) {
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.threads = 1;
  options.profile = 1;
  rc_backend* opened = nullptr;
  RC_TRY(RC_CALL(rc_backend_open)("cpu", &options, &opened));
  const Backend backend(opened);
  RC_CALL(rc_backend_release)(RC_CALL(rc_backend_retain)(opened));
  const char* explanation = nullptr;
  RC_TRY(RC_CALL(rc_backend_explain)(opened, &explanation));
  rc_device_report device = RC_DEVICE_REPORT_INIT;
  RC_TRY(RC_CALL(rc_backend_device)(opened, &device));
  rc_backend_usage_report usage = RC_BACKEND_USAGE_REPORT_INIT;
  RC_TRY(RC_CALL(rc_backend_usage)(opened, &usage));
  const int64_t shape[] = {4, 32};
  rc_tensor* made = nullptr;
  RC_TRY(RC_CALL(rc_tensor_ones)(opened, RC_DTYPE_F32, shape, 2, &made));
  const TensorHandle ones(made);
  made = nullptr;
  RC_TRY(RC_CALL(rc_op_add)(ones.get(), ones.get(), &made));
  rc_tensor_release(made);
  char* trace = nullptr;
  RC_TRY(RC_CALL(rc_backend_trace)(opened, &trace));
  RC_CALL(rc_free)(trace);
  int32_t lifted = 0;
  RC_TRY(RC_CALL(rc_quarantine_forget)("cpu", &lifted));
  End end;
  return await(RC_CALL(rc_backend_open_async)(
                   "reference", nullptr, world.loop.get(), backend_end, &end),
               world.loop.get(), end);
}

rc_status tenants(World& world) {
  rc_tenant_options options = RC_TENANT_OPTIONS_INIT;
  options.name = "a tenant with a long name";
  options.devices = "reference,cpu";
  options.max_requests = 10;
  options.generated_tokens_per_minute = 1'000'000;
  rc_tenant* made = nullptr;
  RC_TRY(RC_CALL(rc_tenant_create)(&options, &made));
  const std::unique_ptr<rc_tenant, Release<rc_tenant_release>> tenant(made);
  RC_CALL(rc_tenant_release)(RC_CALL(rc_tenant_retain)(made));
  rc_backend_options open = RC_BACKEND_OPTIONS_INIT;
  open.tenant = made;
  rc_backend* opened = nullptr;
  RC_TRY(rc_backend_open("reference", &open, &opened));
  const Backend backend(opened);
  rc_model_options model_options = RC_MODEL_OPTIONS_INIT;
  model_options.context_length = 64;
  rc_model* loaded = nullptr;
  RC_TRY(rc_model_load(opened, model_path().c_str(), &model_options, &loaded));
  const Model model(loaded);
  rc_session* session = nullptr;
  RC_TRY(rc_session_create(loaded, nullptr, &session));
  const Session owned(session);
  rc_generate_options generate = RC_GENERATE_OPTIONS_INIT;
  generate.prompt = "hello";
  generate.prompt_length = 5;
  generate.max_tokens = 2;
  char* text = nullptr;
  const rc_status generated =
      rc_generate(session, &generate, &text, nullptr, nullptr);
  rc_free(text);  // also given with an error
  RC_TRY(generated);
  options.devices = "";
  RC_TRY(RC_CALL(rc_tenant_change)(made, &options));
  rc_tenant_usage_report usage = RC_TENANT_USAGE_REPORT_INIT;
  RC_TRY(RC_CALL(rc_tenant_usage)(made, &usage));
  char* before = nullptr;
  RC_TRY(RC_CALL(rc_tenant_metrics)(made, RC_METRICS_JSON, &before));
  char* bill = nullptr;
  rc_status status = RC_CALL(rc_tenant_bill)(
      made, R"({"currency": "USD", "device_hour": {"cpu": 1}})", before, &bill);
  rc_free(before);
  rc_free(bill);
  RC_TRY(status);
  char* metrics = nullptr;
  RC_TRY(rc_tenant_metrics(nullptr, RC_METRICS_OPENMETRICS, &metrics));
  rc_free(metrics);
  // Sessions of other tenants still work.
  return rc_session_truncate(world.session.get(), 0);
}

// Both measure for long, so that they are cancelled when they have begun.
int32_t cancel(void*, double) { return 1; }

rc_status cancelled(rc_status status) {
  return status == RC_E_CANCELLED ? RC_OK : status;
}

rc_status calibration(World&) {
  char* json = nullptr;
  const rc_status status = cancelled(
      RC_CALL(rc_calibrate)("reference", nullptr, cancel, nullptr, &json));
  rc_free(json);
  return status;
}

rc_status device_test(World&) {
  char* json = nullptr;
  const rc_status status = cancelled(
      RC_CALL(rc_device_test)("reference", nullptr, cancel, nullptr, &json));
  rc_free(json);
  return status;
}

// A handle with a model, a session and a tensor, which is switched and goes on.
rc_status switching(World& world, bool async) {
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.threads = 1;
  rc_backend* opened = nullptr;
  RC_TRY(RC_CALL(rc_backend_open)("cpu", &options, &opened));
  const Backend backend(opened);
  rc_model_options model_options = RC_MODEL_OPTIONS_INIT;
  model_options.context_length = 64;
  rc_model* loaded = nullptr;
  RC_TRY(RC_CALL(rc_model_load)(opened, model_path().c_str(), &model_options,
                                &loaded));
  const Model model(loaded);
  rc_session* created = nullptr;
  RC_TRY(RC_CALL(rc_session_create)(loaded, nullptr, &created));
  const Session session(created);
  const int32_t tokens[] = {1, 2, 3};
  RC_TRY(RC_CALL(rc_session_append)(created, tokens, 3));
  RC_TRY(RC_CALL(rc_session_decode)(created, 0));
  rc_backend_switch_options how = RC_BACKEND_SWITCH_OPTIONS_INIT;
  End end;
  const rc_status status =
      async ? await(RC_CALL(rc_backend_switch_async)(opened, "reference", &how,
                                                     world.loop.get(),
                                                     switch_end, &end),
                    world.loop.get(), end)
            : RC_CALL(rc_backend_switch)(opened, "reference", &how);
  // It has come wholly about, or not at all.
  rc_device_report device = RC_DEVICE_REPORT_INIT;
  RC_TRY(RC_CALL(rc_backend_device)(opened, &device));
  EXPECT_STREQ(device.backend, status == RC_OK ? "reference" : "cpu");
  int64_t position = 0;
  RC_TRY(RC_CALL(rc_session_position)(created, &position));
  EXPECT_EQ(position, 3);
  RC_TRY(status);
  RC_TRY(RC_CALL(rc_session_append)(created, tokens, 1));
  return RC_CALL(rc_session_decode)(created, 0);
}

rc_status switching_at_once(World& world) { return switching(world, false); }
rc_status switching_on_a_loop(World& world) { return switching(world, true); }

// Each name can be taken once.
std::string new_name(const char* kind) {
  static std::atomic<int> count{0};
  return kind + std::to_string(++count);
}

rc_status plugins(World&) {
  rc_plugin table = runtime::PluginList::instance().find("reference")->table;
  table.device_count = [](int32_t* count, char*) -> rc_status {
    *count = 0;
    return RC_OK;
  };
  // The table points to these strings, which must stay.
  static std::vector<std::unique_ptr<std::string>> names;
  names.push_back(std::make_unique<std::string>(new_name("own")));
  table.name = names.back()->c_str();
  RC_TRY(RC_CALL(rc_plugin_register)(&table));
  // Once in a process.
  static std::atomic<bool> loaded{false};
  const rc_status status = RC_CALL(rc_plugin_load)(RC_MODULE_FOUND);
  if (loaded && status == RC_E_INVALID_ARGUMENT) return RC_OK;
  if (status == RC_OK) loaded = true;
  return status;
}

rc_status op_backends(World&) {
  const std::string name = new_name("ops");
  rc_op_backend table = RC_OP_BACKEND_INIT;
  table.name = name.c_str();
  table.supports = [](void*, const rc_op_call*, char*) -> rc_status {
    return RC_E_UNSUPPORTED;
  };
  table.compute = [](void*, const rc_op_call*, char*) -> rc_status {
    return RC_E_UNSUPPORTED;
  };
  RC_TRY(RC_CALL(rc_op_backend_register)(&table));
  rc_backend* opened = nullptr;
  const rc_status status =
      RC_CALL(rc_backend_open)(name.c_str(), nullptr, &opened);
  rc_backend_release(opened);
  const rc_status unregistered =
      RC_CALL(rc_op_backend_unregister)(name.c_str());
  // A failed one can be done again.
  if (unregistered != RC_OK) {
    EXPECT_OK(rc_op_backend_unregister(name.c_str()));
  }
  return status != RC_OK ? status : unregistered;
}

}  // namespace

std::vector<Scenario> backend_scenarios() {
  return {{"discovery", discovery, 100},
          {"backends", backends, 100},
          {"tenants", tenants, 100},
          {"calibration", calibration, 50},
          {"device_test", device_test, 50},
          {"switching_at_once", switching_at_once, 25},
          {"switching_on_a_loop", switching_on_a_loop, 25},
          {"plugins", plugins, 100, true},
          {"op_backends", op_backends, 100, true}};
}

}  // namespace rc::test
