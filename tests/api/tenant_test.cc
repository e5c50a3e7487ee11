// Tenants through the C ABI: limits at their edge and one beyond, changed while
// the tenant works.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "api/api_util.h"
#include "api/tenant_util.h"

namespace rc::test {
namespace {

class Tenants : public testing::Test {
 protected:
  rc_tenant_usage_report usage() const { return usage_of(tenant_.get()); }
  void change(const std::function<void(rc_tenant_options&)>& set) {
    rc_tenant_options options = RC_TENANT_OPTIONS_INIT;
    set(options);
    ASSERT_OK(rc_tenant_change(tenant_.get(), &options));
  }

  Tenant tenant_ = make_tenant("acme");
  Backend backend_ = open_for(tenant_.get());
  Model model_ = load_model(backend_.get());
  Session session_ = create_session(model_.get());
};

Request start(rc_session* session, rc_status expected = RC_OK,
              int64_t max_tokens = 20) {
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  options.prompt = "hello";
  options.prompt_length = 5;
  options.max_tokens = max_tokens;
  options.ignore_eos = 1;
  rc_request* request = nullptr;
  const rc_status status =
      rc_generate_async(session, &options, nullptr, nullptr, nullptr, &request);
  EXPECT_EQ(status, expected) << rc_error_message();
  return Request(request);
}

rc_generate_report end_of(rc_request* request) {
  rc_event event = RC_EVENT_INIT;
  rc_generate_report report = RC_GENERATE_REPORT_INIT;
  do {
    event = RC_EVENT_INIT;
    if (rc_request_next(request, 60000, &event) != RC_OK) {
      ADD_FAILURE() << rc_error_message();
      return report;
    }
  } while (event.type != RC_EVENT_END);
  return *event.report;
}

// Holds up what generates after a token.
void hold_up(rc_tenant_options& options) {
  options.generated_tokens_per_minute = 1;
  options.burst_seconds = 60;
}

TEST_F(Tenants, RequestsBeyondTheLimitAreRefused) {
  change([](auto& options) { options.max_requests = 2; });
  std::vector<Session> sessions;
  for (int i = 0; i < 3; ++i) {
    sessions.push_back(create_endless_session(model_.get()));
  }
  const Request one = start(sessions[0].get(), RC_OK, -1);
  const Request two = start(sessions[1].get(), RC_OK, -1);
  EXPECT_EQ(usage().requests_in_flight, 2);
  // Of another handle of the tenant, too.
  const Backend second = open_for(tenant_.get());
  const Model again = load_model(second.get());
  const Session fourth = create_session(again.get());
  for (rc_session* refused : {sessions[2].get(), fourth.get()}) {
    start(refused, RC_E_QUOTA);
    EXPECT_EQ(std::string(rc_error_message()),
              "the tenant 'acme' has 2 requests in flight and its max_requests "
              "is 2; wait until there are fewer");
    EXPECT_EQ(rc_error_retry_after_ms(), -1);
  }
  EXPECT_EQ(usage().refused, 2u);
  change([](auto& options) { options.max_requests = 3; });
  const Request three = start(sessions[2].get(), RC_OK, -1);
  // A lower limit ends no request.
  change([](auto& options) { options.max_requests = 1; });
  EXPECT_EQ(usage().requests_in_flight, 3);
  for (rc_request* request : {one.get(), two.get(), three.get()}) {
    rc_request_cancel(request);
    EXPECT_EQ(end_of(request).status, RC_E_CANCELLED);
  }
  EXPECT_EQ(usage().requests_in_flight, 0);
  EXPECT_EQ(usage().requests, 3u);
  EXPECT_EQ(end_of(start(fourth.get()).get()).status, RC_OK);
}

TEST_F(Tenants, SessionsAndModelsBeyondTheLimitAreRefused) {
  change([](auto& options) {
    options.max_sessions = 2;
    options.max_models = 1;
  });
  Session second = create_session(model_.get());
  rc_session* made = nullptr;
  EXPECT_FAILS(RC_E_QUOTA, rc_session_create(model_.get(), nullptr, &made),
               "the tenant 'acme' has 2 sessions", "max_sessions is 2");
  EXPECT_FAILS(RC_E_QUOTA, rc_session_fork(session_.get(), &made),
               "max_sessions is 2");
  void* saved = nullptr;
  size_t size = 0;
  ASSERT_OK(rc_session_save_memory(session_.get(), &saved, &size));
  EXPECT_FAILS(
      RC_E_QUOTA,
      rc_session_restore_memory(model_.get(), saved, size, nullptr, &made),
      "max_sessions is 2");
  EXPECT_FAILS(RC_E_QUOTA,
               rc_session_migrate(session_.get(), model_.get(), &made),
               "max_sessions is 2");
  EXPECT_EQ(made, nullptr);
  second.reset();
  ASSERT_OK(
      rc_session_restore_memory(model_.get(), saved, size, nullptr, &made));
  rc_session_release(made);
  rc_free(saved);
  rc_model* model = nullptr;
  EXPECT_FAILS(
      RC_E_QUOTA,
      rc_model_load(backend_.get(), model_path().c_str(), nullptr, &model),
      "the tenant 'acme' has 1 models", "max_models is 1");
  EXPECT_EQ(usage().sessions, 1);
  EXPECT_EQ(usage().models, 1);
  EXPECT_EQ(usage().refused, 5u);
  // A session keeps its model.
  model_.reset();
  EXPECT_EQ(usage().models, 1);
  session_.reset();
  EXPECT_EQ(usage().models, 0);
  EXPECT_EQ(usage().sessions, 0);
  model_ = load_model(backend_.get());
}

TEST_F(Tenants, MemoryBeyondTheLimitIsRefused) {
  const uint64_t before = usage().memory;
  ASSERT_GT(before, 0u);
  change([&](auto& options) { options.memory_limit = before + (1 << 20); });
  const Backend other = open_for(tenant_.get());
  const int64_t shape[] = {1 << 18};  // 1 MiB
  rc_tensor* tensor = nullptr;
  ASSERT_OK(rc_tensor_create(other.get(), RC_DTYPE_F32, shape, 1, &tensor));
  rc_tensor* more = nullptr;
  EXPECT_FAILS(RC_E_DEVICE_MEMORY,
               rc_tensor_create(backend_.get(), RC_DTYPE_F32, shape, 1, &more),
               "of the memory_limit of the tenant 'acme', ");
  EXPECT_EQ(usage().refused, 1u);
  rc_tensor_release(tensor);
  // The memory that the other handle keeps for reuse is given up for it.
  ASSERT_OK(rc_tensor_create(backend_.get(), RC_DTYPE_F32, shape, 1, &more));
  rc_tensor_release(more);
  // So little that no model fits.
  const Tenant small =
      make_tenant("small", [](auto& options) { options.memory_limit = 1000; });
  const Backend narrow = open_for(small.get());
  rc_model* model = nullptr;
  EXPECT_EQ(rc_model_load(narrow.get(), model_path().c_str(), nullptr, &model),
            RC_E_DEVICE_MEMORY)
      << rc_error_message();
}

TEST_F(Tenants, ALimitPerMinuteSaysWhenToTryAgain) {
  change(hold_up);
  const Request request = start(session_.get());
  const Session other = create_session(model_.get());
  // The first token uses the limit up.
  while (usage().generated_tokens == 0) std::this_thread::yield();
  start(other.get(), RC_E_QUOTA);
  const std::string message = rc_error_message();
  EXPECT_EQ(message.find("the tenant 'acme' has used up its "
                         "generated_tokens_per_minute of 1; try again in "),
            0u)
      << message;
  EXPECT_GT(rc_error_retry_after_ms(), 50000);
  EXPECT_LE(rc_error_retry_after_ms(), 60001);
  // Any other failure has no time.
  EXPECT_EQ(rc_tenant_usage(nullptr, nullptr), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(rc_error_retry_after_ms(), -1);
  // Tensor ops generate nothing.
  add_on(backend_.get());
  rc_request_cancel(request.get());
  EXPECT_EQ(end_of(request.get()).status, RC_E_CANCELLED);
}

TEST_F(Tenants, OpsAndGraphsAreRefusedWhenTheTimeOfDevicesIsUsedUp) {
  change([](auto& options) {
    options.device_ms_per_minute = 1;
    options.burst_seconds = 1;
  });
  rc_status status = RC_OK;
  for (int i = 0; i < 1'000'000 && status == RC_OK; ++i) {
    status = add_on(backend_.get());
  }
  EXPECT_EQ(status, RC_E_QUOTA);
  EXPECT_NE(std::string(rc_error_message()).find("device_ms_per_minute of 1;"),
            std::string::npos)
      << rc_error_message();
  EXPECT_GT(rc_error_retry_after_ms(), 0);
  start(session_.get(), RC_E_QUOTA);
  EXPECT_GT(usage().device_us, 0u);
  change([](auto& options) { options.device_ms_per_minute = 0; });
  EXPECT_OK(add_on(backend_.get()));
}

TEST_F(Tenants, OpenOnlyTheDevicesThatTheyMay) {
  const Tenant tenant = make_tenant(
      "guest", [](auto& options) { options.devices = "cpu, vulkan:7"; });
  rc_backend* backend = nullptr;
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.tenant = tenant.get();
  EXPECT_FAILS(RC_E_BACKEND_UNAVAILABLE,
               rc_backend_open("reference", &options, &backend),
               "reference:0: its tenant may not use it");
  const Backend chosen = open_for(tenant.get(), "reference,cpu");
  EXPECT_EQ(device_id(chosen.get()), "cpu:0");
  EXPECT_FAILS(RC_E_BACKEND_UNAVAILABLE,
               rc_backend_switch(chosen.get(), "reference", nullptr),
               "its tenant may not use it");
  rc_tenant_options all = RC_TENANT_OPTIONS_INIT;
  all.devices = "";
  ASSERT_OK(rc_tenant_change(tenant.get(), &all));
  EXPECT_OK(rc_backend_switch(chosen.get(), "reference", nullptr));
}

TEST_F(Tenants, WrongOptionsAreRefused) {
  const auto refused = [&](const std::string& message,
                           const std::function<void(rc_tenant_options&)>& set) {
    rc_tenant_options options = RC_TENANT_OPTIONS_INIT;
    set(options);
    rc_tenant* made = nullptr;
    EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_tenant_create(&options, &made),
                 message);
    EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
                 rc_tenant_change(tenant_.get(), &options), message);
  };
  refused("options->weight: 0 is not within 0.001 to 1000",
          [](auto& options) { options.weight = 0; });
  refused("options->name: invalid UTF-8",
          [](auto& options) { options.name = "a\xff"; });
  refused("options->weight: nan", [](auto& options) { options.weight = kNan; });
  refused("options->weight: 1001", [](auto& o) { o.weight = 1001; });
  refused("options->max_requests: -1 is negative",
          [](auto& options) { options.max_requests = -1; });
  refused("options->max_sessions: -1", [](auto& o) { o.max_sessions = -1; });
  refused("options->max_models: -1", [](auto& o) { o.max_models = -1; });
  refused("options->prompt_tokens_per_minute: -1",
          [](auto& options) { options.prompt_tokens_per_minute = -1; });
  refused("options->generated_tokens_per_minute: -1",
          [](auto& options) { options.generated_tokens_per_minute = -1; });
  refused("options->device_ms_per_minute: -1",
          [](auto& options) { options.device_ms_per_minute = -1; });
  refused("options->burst_seconds: 0 is not within 1 to 3600",
          [](auto& options) { options.burst_seconds = 0; });
  refused("options->burst_seconds: 3601",
          [](auto& options) { options.burst_seconds = 3601; });
  refused("options->max_stall_ms: 0 is not within 1 to 10000",
          [](auto& options) { options.max_stall_ms = 0; });
  refused("options->max_stall_ms: 10001",
          [](auto& options) { options.max_stall_ms = 10001; });
  refused("\"cpu,auto\" names auto",
          [](auto& options) { options.devices = "cpu,auto"; });
  refused("cpu:x", [](auto& options) { options.devices = "cpu:x"; });
}

TEST_F(Tenants, HandlesKeepTheirTenant) {
  tenant_.reset();
  EXPECT_EQ(generate(session_.get()).empty(), false);
  // A switch is made on the same account.
  EXPECT_OK(rc_backend_switch(backend_.get(), "cpu", nullptr));
}

// The tenant may be released as soon as the call has returned.
TEST_F(Tenants, IsKeptWhileAHandleIsOpened) {
  struct Opened {
    std::atomic<bool> over{false};
    rc_status status = RC_E_INTERNAL;
    std::string message;
    Backend backend;
  };
  for (int i = 0; i < 20; ++i) {
    Tenant tenant =
        make_tenant("brief", [](auto& options) { options.max_models = 1; });
    rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
    options.tenant = tenant.get();
    Opened opened;
    ASSERT_OK(rc_backend_open_async(
        "reference", &options, nullptr,
        [](void* user, rc_status status, const char* message,
           rc_backend* backend) {
          auto* result = static_cast<Opened*>(user);
          result->status = status;
          result->message = message;
          result->backend.reset(backend);
          result->over = true;
        },
        &opened));
    tenant.reset();
    while (!opened.over) std::this_thread::yield();
    ASSERT_EQ(opened.status, RC_OK) << opened.message;
    const Model model = load_model(opened.backend.get());
    rc_model* more = nullptr;
    EXPECT_FAILS(RC_E_QUOTA,
                 rc_model_load(opened.backend.get(), model_path().c_str(),
                               nullptr, &more),
                 "the tenant 'brief'");
  }
  // One that is no tenant is refused at once.
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  rc_tenant* released = make_tenant("gone").release();
  rc_tenant_release(released);
  options.tenant = released;
  EXPECT_FAILS(
      RC_E_INVALID_ARGUMENT,
      rc_backend_open_async(
          "reference", &options, nullptr,
          [](void*, rc_status, const char*, rc_backend*) { FAIL(); }, nullptr),
      "options->tenant");
}

TEST_F(Tenants, AHandleWithoutOneHasNoLimits) {
  change([](auto& options) { options.max_sessions = 1; });
  const Backend other = open_backend();
  const Model model = load_model(other.get());
  const Session one = create_session(model.get());
  const Session two = create_session(model.get());
  EXPECT_EQ(usage().backends, 1);
  EXPECT_EQ(usage().sessions, 1);
}

// 32 threads at a limit that changes: it holds, and nothing is lost.
TEST_F(Tenants, LimitsHoldAcrossThreads) {
  change([](auto& options) { options.max_requests = 4; });
  std::atomic<bool> over{false};
  std::atomic<int> served{0}, refused{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 32; ++i) {
    threads.emplace_back([&] {
      const Session session = create_session(model_.get());
      for (int n = 0; n < 20; ++n) {
        rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
        options.prompt = "hi";
        options.prompt_length = 2;
        options.max_tokens = 2;
        options.ignore_eos = 1;
        char* text = nullptr;
        const rc_status status =
            rc_generate(session.get(), &options, &text, nullptr, nullptr);
        rc_free(text);
        EXPECT_OK(rc_session_truncate(session.get(), 0));
        if (status == RC_OK) {
          ++served;
        } else {
          EXPECT_EQ(status, RC_E_QUOTA) << rc_error_message();
          ++refused;
        }
        if (usage().requests_in_flight > 8) over = true;
      }
    });
  }
  for (int i = 0; i < 50; ++i) {
    change([&](auto& options) { options.max_requests = 1 + i % 8; });
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(over);
  EXPECT_EQ(served + refused, 32 * 20);
  const rc_tenant_usage_report end = usage();
  EXPECT_EQ(end.requests, static_cast<uint64_t>(served));
  EXPECT_EQ(end.generated_tokens, static_cast<uint64_t>(2 * served));
  EXPECT_EQ(end.refused, static_cast<uint64_t>(refused));
  EXPECT_EQ(end.requests_in_flight, 0);
}

}  // namespace
}  // namespace rc::test
