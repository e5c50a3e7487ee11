// Configuration, and the functions that cannot fail.
#include <cstring>
#include <fstream>

#include "scenarios.h"

namespace rc::test {
namespace {

// Every struct has a function that gives it its initial values.
#define RC_CALL_INIT(name)                           \
  do {                                               \
    rc_##name value;                                 \
    RC_CALL(rc_##name##_init)(&value, sizeof value); \
    EXPECT_EQ(value.struct_size, sizeof value);      \
  } while (0)

rc_status initial_values(World&) {
  RC_CALL_INIT(attention_options);
  RC_CALL_INIT(backend_options);
  RC_CALL_INIT(backend_switch_options);
  RC_CALL_INIT(backend_usage_report);
  RC_CALL_INIT(chat_content_report);
  RC_CALL_INIT(chat_options);
  RC_CALL_INIT(chat_prompt_report);
  RC_CALL_INIT(conv2d_options);
  RC_CALL_INIT(custom_op_options);
  RC_CALL_INIT(device_report);
  RC_CALL_INIT(embed_options);
  RC_CALL_INIT(evaluate_options);
  RC_CALL_INIT(evaluate_report);
  RC_CALL_INIT(event);
  RC_CALL_INIT(fetch_options);
  RC_CALL_INIT(generate_options);
  RC_CALL_INIT(generate_report);
  RC_CALL_INIT(grammar_options);
  RC_CALL_INIT(graph_report);
  RC_CALL_INIT(graph_run_options);
  RC_CALL_INIT(importance_options);
  RC_CALL_INIT(importance_report);
  RC_CALL_INIT(model_memory);
  RC_CALL_INIT(model_options);
  RC_CALL_INIT(model_report);
  RC_CALL_INIT(op_backend);
  RC_CALL_INIT(plan_device_report);
  RC_CALL_INIT(plan_offer_report);
  RC_CALL_INIT(plan_report);
  RC_CALL_INIT(quantize_options);
  RC_CALL_INIT(random_options);
  RC_CALL_INIT(rerank_options);
  RC_CALL_INIT(rope_options);
  RC_CALL_INIT(session_options);
  RC_CALL_INIT(tenant_options);
  RC_CALL_INIT(tenant_usage_report);
  RC_CALL_INIT(tensor_report);
  RC_CALL_INIT(tokenizer_report);
  return RC_OK;
}

rc_status names(World&) {
  EXPECT_STREQ(RC_CALL(rc_status_name)(RC_E_IO), "RC_E_IO");
  EXPECT_NE(RC_CALL(rc_error_message)(), nullptr);
  EXPECT_EQ(RC_CALL(rc_error_retry_after_ms)(), -1);
  EXPECT_GT(RC_CALL(rc_version)(), 0u);
  EXPECT_NE(RC_CALL(rc_version_string)(), nullptr);
  EXPECT_NE(RC_CALL(rc_build_info)(), nullptr);
  EXPECT_NE(RC_CALL(rc_conversion_type)(0), nullptr);
  EXPECT_NE(RC_CALL(rc_end_reason_name)(RC_END_STOP), nullptr);
  EXPECT_NE(RC_CALL(rc_op_name)(RC_OP_ADD), nullptr);
  RC_CALL(rc_free)(nullptr);
  RC_CALL(rc_log_set)(nullptr, nullptr, RC_LOG_NONE);
  return RC_CALL(rc_abi_check)(RC_VERSION_MAJOR, RC_VERSION_MINOR);
}

rc_status configuration(World& world) {
  // As when a process opens its first backend, the file that the environment
  // names is read.
  RC_TRY(RC_CALL(rc_config_use_file)(nullptr));
  Backend backend;
  {
    rc_backend* opened = nullptr;
    RC_TRY(RC_CALL(rc_backend_open)(nullptr, nullptr, &opened));
    backend.reset(opened);
  }
  RC_TRY(RC_CALL(rc_config_use_file)(world.path("config.toml").c_str()));
  RC_TRY(RC_CALL(rc_config_set)("generate.temperature", "0.5"));
  char* json = nullptr;
  RC_TRY(RC_CALL(rc_config_report)(&json));
  RC_CALL(rc_free)(json);
  RC_TRY(RC_CALL(rc_config_set)("generate.temperature", nullptr));
  RC_TRY(RC_CALL(rc_set_default_backend)("cpu"));
  return RC_CALL(rc_set_default_backend)(nullptr);
}

// Errors of every kind that toml++ reports, and of ours about what it read.
constexpr const char* kMalformed[] = {
    "[backend",
    "[backend]\nthreads = ",
    "[backend]\nthreads = 1 2\n",
    "[backend]\nthreads = 0x\n",
    "[backend]\nthreads = 99999999999999999999\n",
    "[backend]\nthreads = 1__0\n",
    "[backend]\nthreads = \"no end\n",
    "[backend]\nspec = 'no end\n",
    "[backend]\nspec = \"\\q\"\n",
    "[backend]\nspec = \"\\ud800\"\n",
    "[backend]\nspec = \"\"\"no end",
    "[backend]\nspec = \"\xff\"\n",
    "[backend]\nspec = \"a\"\nspec = \"b\"\n",
    "[backend]\n[backend]\n",
    "[backend]\nspec = [1, 2\n",
    "[backend]\nspec = {a = 1\n",
    "[backend]\nspec = [[[[[[[[1]]]]]]]]\n",
    "[backend]\nspec = 1979-13-27\n",
    "[backend]\nspec = 25:00:00\n",
    "[backend]\nspec = 1979-05-27T07:32:00+99:00\n",
    "[backend]\nspec = 1e\n",
    "[backend]\nspec = tru\n",
    "[backend]\nspec = nah\n",
    "= 1\n",
    "a b = 1\n",
    "a.b = 1\na.b.c = 2\n",
    "[[a]]\n[a]\n",
    "\"\\u12\" = 1\n",
    "a = 1\r",
    "a = 1 \x01",
    "# \x7f\n",
    "[backend]\nthread = 1\n",
    "[backend]\nthreads = \"two\"\n",
    "[backend]\nthreads = 1979-05-27\n",
    "[backend]\nspec = [1, \"two\", 3.0, true, {four = 4}]\n",
};

rc_status malformed_configuration(World& world) {
  static const std::vector<std::string> paths = [&] {
    std::vector<std::string> made;
    for (const char* text : kMalformed) {
      made.push_back(
          world.path(("malformed" + std::to_string(made.size())).c_str()));
      std::ofstream(made.back()) << text;
    }
    return made;
  }();
  for (const std::string& path : paths) {
    const rc_status status = RC_CALL(rc_config_use_file)(path.c_str());
    if (status == RC_E_OUT_OF_MEMORY) return status;
    EXPECT_EQ(status, RC_E_FORMAT) << rc_error_message();
  }
  return RC_OK;
}

}  // namespace

std::vector<Scenario> configuration_scenarios() {
  return {{"initial_values", initial_values},
          {"names", names},
          {"configuration", configuration},
          {"malformed_configuration", malformed_configuration, 200}};
}

}  // namespace rc::test
