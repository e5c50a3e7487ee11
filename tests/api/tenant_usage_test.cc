// The usage of tenants, and their bills, through the C ABI.
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "api/api_util.h"
#include "api/tenant_util.h"
#include "temporary.h"

namespace rc::test {
namespace {

using Json = nlohmann::json;

constexpr char kPrices[] = R"({"currency": "USD",
  "device_hour": {"reference": 3600, "gpu": 7},
  "million_tokens": {"prompt": 1000000, "generated": 2000000,
                     "cached": 500000},
  "gib_hour": {"reference:0": 3600}})";

std::string metrics_of(rc_tenant* tenant,
                       rc_metrics_format format = RC_METRICS_JSON) {
  char* text = nullptr;
  EXPECT_OK(rc_tenant_metrics(tenant, format, &text));
  std::string result = text == nullptr ? "" : text;
  rc_free(text);
  return result;
}

Json bill_of(rc_tenant* tenant, const char* prices = kPrices,
             const char* since = nullptr) {
  char* text = nullptr;
  EXPECT_OK(rc_tenant_bill(tenant, prices, since, &text));
  Json bill = text == nullptr ? Json() : Json::parse(text);
  rc_free(text);
  return bill;
}

// Of a bill, by what it is for and the class of tokens.
std::map<std::string, double> amounts(const Json& bill) {
  std::map<std::string, double> sums;
  for (const Json& item : bill.at("items")) {
    sums[item.at("what").get<std::string>() +
         item.at("class").get<std::string>()] +=
        item.at("amount").get<double>();
  }
  return sums;
}

class TenantUsage : public testing::Test {
 protected:
  Tenant tenant_ =
      make_tenant("acme", [](auto& options) { options.weight = 2; });
  Backend backend_ = open_for(tenant_.get());
  Model model_ = load_model(backend_.get());
  Session session_ = create_session(model_.get());
};

TEST_F(TenantUsage, JsonSaysWhatWasUsedOfWhat) {
  generate(session_.get());
  ASSERT_OK(add_on(backend_.get()));
  const Json all = Json::parse(metrics_of(tenant_.get()));
  ASSERT_EQ(all.at("tenants").size(), 1u);
  const Json& tenant = all.at("tenants")[0];
  const rc_tenant_usage_report usage = usage_of(tenant_.get());
  EXPECT_EQ(tenant.at("name"), "acme");
  EXPECT_EQ(tenant.at("weight"), 2);
  EXPECT_EQ(tenant.at("requests"), 1);
  EXPECT_EQ(tenant.at("prompt_tokens"), usage.prompt_tokens);
  EXPECT_EQ(tenant.at("generated_tokens"), usage.generated_tokens);
  EXPECT_EQ(tenant.at("sessions"), 1);
  EXPECT_EQ(tenant.at("memory"), usage.memory);
  EXPECT_EQ(tenant.at("models"), 1);
  ASSERT_EQ(tenant.at("usage").size(), 2u);
  const Json& model = tenant.at("usage")[0];
  EXPECT_EQ(model.at("model"), model_path());
  EXPECT_EQ(model.at("devices")[0].at("device"), "reference:0");
  EXPECT_EQ(model.at("devices")[0].at("gpu"), false);
  EXPECT_GT(model.at("devices")[0].at("seconds"), 0);
  EXPECT_EQ(model.at("generated_tokens"), usage.generated_tokens);
  uint64_t waits = 0;
  for (const Json& count : model.at("waits").at("counts")) {
    waits += count.get<uint64_t>();
  }
  EXPECT_EQ(waits, 1u);
  EXPECT_EQ(model.at("waits").at("counts").size(),
            model.at("waits").at("bounds").size() + 1);
  EXPECT_EQ(tenant.at("usage")[1].at("model"), "");
  EXPECT_GT(tenant.at("usage")[1].at("devices")[0].at("seconds"), 0);
  double seconds = 0;
  for (const Json& used : tenant.at("usage")) {
    seconds += used.at("devices")[0].at("seconds").get<double>();
  }
  EXPECT_NEAR(static_cast<double>(usage.device_us) * 1e-6, seconds, 2e-6);
}

// Sums over tenants are what the device says.
TEST_F(TenantUsage, TenantsAddUpToTheDevice) {
  const auto busy = [](const std::string& metrics) {
    const Json all = Json::parse(metrics);
    for (const Json& device : all.at("devices")) {
      if (device.at("device") == "reference:0") {
        return device.at("seconds").get<double>();
      }
    }
    ADD_FAILURE() << metrics;
    return 0.0;
  };
  const Tenant other = make_tenant("other");
  const Backend second = open_for(other.get());
  const Model model = load_model(second.get());
  const double before = busy(metrics_of(nullptr));
  const auto used = [&] {
    return static_cast<double>(usage_of(tenant_.get()).device_us +
                               usage_of(other.get()).device_us) *
           1e-6;
  };
  const double used_before = used();
  std::vector<std::thread> threads;
  for (rc_model* each : {model_.get(), model.get()}) {
    threads.emplace_back([each] {
      for (int i = 0; i < 5; ++i) generate(create_session(each).get());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 100; ++i) EXPECT_OK(add_on(second.get()));
  const double worked = busy(metrics_of(nullptr)) - before;
  EXPECT_NEAR((used() - used_before) / worked, 1.0, 0.01);
}

// The weights of one file that two tenants have loaded cost each of them half.
TEST_F(TenantUsage, SharedMemoryIsDivided) {
  const auto byte_seconds = [](rc_tenant* tenant) {
    double sum = 0;
    const Json all = Json::parse(metrics_of(tenant));
    for (const Json& memory : all.at("tenants")[0].at("held")) {
      EXPECT_EQ(memory.at("device"), "reference:0");
      sum += memory.at("byte_seconds").get<double>();
    }
    return sum;
  };
  const double whole = static_cast<double>(usage_of(tenant_.get()).memory);
  const Tenant other = make_tenant("other");
  const Backend second = open_for(other.get());
  const Model model = load_model(second.get());
  using Clock = std::chrono::steady_clock;
  const auto earliest = Clock::now();
  const double mine_before = byte_seconds(tenant_.get());
  const double others_before = byte_seconds(other.get());
  const auto latest = Clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const auto end_earliest = Clock::now();
  const double mine = byte_seconds(tenant_.get()) - mine_before;
  const double others = byte_seconds(other.get()) - others_before;
  const auto end_latest = Clock::now();
  const std::chrono::duration<double> least = end_earliest - latest;
  const std::chrono::duration<double> most = end_latest - earliest;
  for (const double part : {mine, others}) {
    EXPECT_GE(part, 0.999 * whole / 2 * least.count());
    EXPECT_LE(part, 1.001 * whole / 2 * most.count());
  }
}

TEST_F(TenantUsage, MetricsAreOpenMetrics) {
  generate(session_.get());
  const Tenant odd = make_tenant("a \"b\" \\ \n c");
  const std::string text = metrics_of(nullptr, RC_METRICS_OPENMETRICS);
  EXPECT_TRUE(text.ends_with("\n# EOF\n"));
  const std::string labels = "{tenant=\"acme\",model=\"" + model_path() + "\"";
  for (const std::string& part :
       {std::string("# TYPE runcible_tokens counter\n"),
        "runcible_requests_total" + labels + "} 1\n",
        "runcible_tokens_total" + labels + ",class=\"generated\"} ",
        "runcible_device_seconds_total" + labels + ",device=\"reference:0\"} ",
        "runcible_queue_seconds_bucket" + labels + ",le=\"+Inf\"} 1\n",
        "runcible_queue_seconds_count" + labels + "} 1\n",
        std::string("runcible_sessions{tenant=\"acme\"} 1\n"),
        std::string("runcible_sessions{tenant=\"a \\\"b\\\" \\\\ \\n c\"} 0\n"),
        std::string(
            "runcible_device_busy_seconds_total{device=\"reference:0\"} ")}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

// By the parser of Prometheus' own library for Python.
TEST_F(TenantUsage, MetricsAreReadByPrometheus) {
  const std::string python = "/usr/bin/python3 -c '";
  const std::string import =
      "import sys; from prometheus_client.openmetrics.parser import "
      "text_string_to_metric_families as families; ";
  if (std::system((python + import + "' 2>/dev/null").c_str()) != 0) {
    GTEST_SKIP() << "there is no prometheus_client (python3-prometheus-client)";
  }
  generate(session_.get());
  ASSERT_OK(add_on(backend_.get()));
  const Tenant odd = make_tenant("a \"b\" \\ \n c");
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "metrics").string();
  std::ofstream(path) << metrics_of(nullptr, RC_METRICS_OPENMETRICS);
  const std::string count =
      "names = [f.name for f in families(open(sys.argv[1]).read())]; "
      "sys.exit(len(names) != 11)' ";
  EXPECT_EQ(std::system((python + import + count + path).c_str()), 0);
}

TEST_F(TenantUsage, TenantsOfOneNameAreAddedUp) {
  const Tenant same = make_tenant("acme");
  const Backend second = open_for(same.get());
  const Model model = load_model(second.get());
  generate(session_.get());
  generate(create_session(model.get()).get());
  size_t named = 0;
  const Json all = Json::parse(metrics_of(nullptr));
  for (const Json& tenant : all.at("tenants")) {
    if (tenant.at("name") != "acme") continue;
    ++named;
    EXPECT_EQ(tenant.at("requests"), 2);
    EXPECT_EQ(tenant.at("backends"), 2);
  }
  EXPECT_EQ(named, 1u);
}

TEST_F(TenantUsage, BillsAreSums) {
  generate(session_.get());
  const std::string before = metrics_of(tenant_.get());
  const rc_tenant_usage_report first = usage_of(tenant_.get());
  const Json bill = bill_of(tenant_.get());
  EXPECT_EQ(bill.at("tenant"), "acme");
  EXPECT_EQ(bill.at("currency"), "USD");
  const auto parts = amounts(bill);
  double total = 0;
  for (const auto& [what, amount] : parts) total += amount;
  EXPECT_NEAR(bill.at("total").get<double>(), total, 1e-9 * total);
  // A second of the device is 1, as are a prompt token and a GiB second.
  EXPECT_NEAR(parts.at("device_hour"),
              static_cast<double>(first.device_us) * 1e-6, 2e-6);
  EXPECT_DOUBLE_EQ(
      parts.at("million_tokensprompt"),
      static_cast<double>(first.prompt_tokens - first.cached_tokens));
  EXPECT_DOUBLE_EQ(parts.at("million_tokensgenerated"),
                   2.0 * static_cast<double>(first.generated_tokens));
  EXPECT_GT(parts.at("gib_hour"), 0);

  // The bill of the time after that.
  generate(create_session(model_.get()).get());
  const rc_tenant_usage_report second = usage_of(tenant_.get());
  const auto later = amounts(bill_of(tenant_.get(), kPrices, before.c_str()));
  EXPECT_DOUBLE_EQ(later.at("million_tokensgenerated"),
                   2.0 * static_cast<double>(second.generated_tokens -
                                             first.generated_tokens));
  EXPECT_NEAR(later.at("device_hour"),
              static_cast<double>(second.device_us - first.device_us) * 1e-6,
              4e-6);
  EXPECT_DOUBLE_EQ(
      later.at("million_tokensprompt"),
      static_cast<double>(second.prompt_tokens - first.prompt_tokens));
}

// Prompts that the prefix cache has cost what cached tokens cost.
TEST_F(TenantUsage, CachedTokensHaveTheirPrice) {
  const std::string prompt(50, 'a');
  for (int i = 0; i < 2; ++i) {
    const Session session = create_session(model_.get());
    rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
    options.prompt = prompt.data();
    options.prompt_length = prompt.size();
    options.max_tokens = 1;
    char* text = nullptr;
    ASSERT_OK(rc_generate(session.get(), &options, &text, nullptr, nullptr));
    rc_free(text);
  }
  const rc_tenant_usage_report usage = usage_of(tenant_.get());
  ASSERT_GT(usage.cached_tokens, 0u);
  const auto parts = amounts(bill_of(tenant_.get()));
  EXPECT_DOUBLE_EQ(parts.at("million_tokenscached"),
                   0.5 * static_cast<double>(usage.cached_tokens));
  EXPECT_DOUBLE_EQ(
      parts.at("million_tokensprompt"),
      static_cast<double>(usage.prompt_tokens - usage.cached_tokens));
}

TEST_F(TenantUsage, ADeviceWithoutAPriceIsShown) {
  generate(session_.get());
  const Json bill = bill_of(tenant_.get(), R"({"currency": "EUR"})");
  EXPECT_EQ(bill.at("total"), 0);
  ASSERT_FALSE(bill.at("items").empty());
  for (const Json& item : bill.at("items")) {
    EXPECT_TRUE(item.at("price").is_null()) << item;
    EXPECT_EQ(item.at("amount"), 0);
  }
}

TEST_F(TenantUsage, WrongPriceListsAreRefused) {
  const auto refused = [&](const std::string& prices,
                           const std::string& message) {
    char* bill = nullptr;
    EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
                 rc_tenant_bill(tenant_.get(), prices.c_str(), nullptr, &bill),
                 message);
    EXPECT_EQ(bill, nullptr);
  };
  refused("{", "prices");
  refused("[]", "prices: an array, not an object");
  refused("{}", "\"currency\" is lacking");
  refused(R"({"currency": 1})", "\"currency\" is lacking, or is no string");
  refused(R"({"currency": "USD", "device_hours": {}})",
          "there is no member 'device_hours'");
  refused(R"({"currency": "USD", "device_hour": 3})",
          "\"device_hour\" is a number");
  refused(R"({"currency": "USD", "device_hour": {"cpu": -1}})",
          "device_hour.cpu must be a number of 0 or more");
  refused(R"({"currency": "USD", "gib_hour": {"cpu": "1"}})",
          "gib_hour.cpu must be a number of 0 or more");
  refused(R"({"currency": "USD", "million_tokens": {"out": 1}})",
          "has a price of 'out'");
  char* bill = nullptr;
  for (const auto& [since, message] : {
           std::pair{"{", "since"},
           std::pair{"{}", "since: not a snapshot of metrics in JSON"},
           std::pair{R"({"tenants": []})", "it has no tenant 'acme'"},
           std::pair{R"({"tenants": [{"name": "acme", "usage": [{}]}]})",
                     "\"model\""},
       }) {
    EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
                 rc_tenant_bill(tenant_.get(), kPrices, since, &bill), message);
  }
}

}  // namespace
}  // namespace rc::test
