#include "streams/stand_in_util.h"

#include <dlfcn.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "api/api_util.h"
#include "base/cat.h"
#include "device/module_util.h"
#include "runcible/custom_op.h"
#include "runcible/tensor.h"

namespace rc::test {
namespace {

Outcome failed(rc_status status) { return {status, rc_error_message()}; }

using Tensor = std::unique_ptr<rc_tensor, Release<rc_tensor_release>>;
using CustomOp = std::unique_ptr<rc_custom_op, Release<rc_custom_op_release>>;

std::string text_of(rc_model* model) {
  return generate(create_session(model).get());
}

std::string output_of(const std::string& command) {
  std::FILE* const pipe = popen(command.c_str(), "r");
  std::string text;
  char part[256];
  while (std::fgets(part, sizeof part, pipe) != nullptr) text += part;
  EXPECT_EQ(WEXITSTATUS(pclose(pipe)), 0) << command;
  return text;
}

}  // namespace

Outcome walk_to_text(const std::string& spec) {
  rc_backend_options backend_options = RC_BACKEND_OPTIONS_INIT;
  backend_options.threads = 1;
  rc_backend* backend = nullptr;
  rc_status status = rc_backend_open(spec.c_str(), &backend_options, &backend);
  if (status != RC_OK) return failed(status);
  const Backend holds_backend(backend);
  rc_model_options model_options = RC_MODEL_OPTIONS_INIT;
  model_options.context_length = 64;
  rc_model* model = nullptr;
  status = rc_model_load(backend, model_path().c_str(), &model_options, &model);
  if (status != RC_OK) return failed(status);
  const Model holds_model(model);
  rc_session* session = nullptr;
  status = rc_session_create(model, nullptr, &session);
  if (status != RC_OK) return failed(status);
  const Session holds_session(session);
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  options.prompt = "hello";
  options.prompt_length = 5;
  options.max_tokens = 3;
  options.temperature = 0;
  options.ignore_eos = 1;
  char* text = nullptr;
  status = rc_generate(session, &options, &text, nullptr, nullptr);
  // There is a text after a failure as well.
  const Outcome outcome =
      status == RC_OK ? Outcome{RC_OK, text} : failed(status);
  rc_free(text);
  return outcome;
}

Outcome walk_to_custom_op(const std::string& spec) {
  rc_custom_op_options options = RC_CUSTOM_OP_OPTIONS_INIT;
  options.name = "twice";
  options.signature = "x F32 [n] -> y F32 [n]";
  options.grid = "n";
  options.opencl_c =
      "size_t i = get_global_id(0);\n"
      "if (i < n) y[i] = 2 * x[i];\n";
  rc_custom_op* op = nullptr;
  rc_status status = rc_custom_op_create(&options, &op);
  if (status != RC_OK) return failed(status);
  const CustomOp holds_op(op);
  rc_backend* backend = nullptr;
  status = rc_backend_open(spec.c_str(), nullptr, &backend);
  if (status != RC_OK) return failed(status);
  const Backend holds_backend(backend);
  const float given[] = {1, 2, 3};
  const int64_t count = 3;
  rc_tensor* x = nullptr;
  status = rc_tensor_from_data(backend, RC_DTYPE_F32, &count, 1, given,
                               sizeof given, &x);
  if (status != RC_OK) return failed(status);
  const Tensor holds_x(x);
  rc_tensor* y = nullptr;
  status = rc_custom_op_compute(op, &x, 1, nullptr, 0, &y, 1);
  if (status != RC_OK) return failed(status);
  const Tensor holds_y(y);
  float found[3];
  status = rc_tensor_read(y, found, sizeof found);
  if (status != RC_OK) return failed(status);
  return {RC_OK, cat(found[0], " ", found[1], " ", found[2])};
}

StandIn::StandIn(std::string spec, const char* variable, const char* path,
                 const char* prefix)
    : spec_(std::move(spec)),
      variable_(variable),
      path_(path),
      prefix_(prefix),
      // The module loads it by the same path.
      library_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
  setenv(variable, path, 0);
}

bool StandIn::is_used() const {
  return std::getenv(variable_.c_str()) == path_;
}

void* StandIn::control(const char* name) const {
  const std::string symbol = prefix_ + name;
  void* const found =
      library_ == nullptr ? nullptr : dlsym(library_, symbol.c_str());
  EXPECT_NE(found, nullptr) << symbol;
  return found;
}

void StandIn::fail_after(const char* function, long calls, int result) const {
  reinterpret_cast<void (*)(const char*, long, int)>(control("fail"))(
      function, calls, result);
}

long StandIn::number(const char* name) const {
  return reinterpret_cast<long (*)()>(control(name))();
}

void expect_each_call_can_fail(const StandIn& stand_in, Walk* walk,
                               const std::vector<int>& results, long least) {
  const std::string& spec = stand_in.spec();
  const Outcome good = walk(spec);
  ASSERT_EQ(good.status, RC_OK) << good.text;
  const long before = stand_in.calls();
  ASSERT_EQ(walk(spec).text, good.text);
  const long total = stand_in.calls() - before;
  EXPECT_GE(total, least);
  long failures = 0;
  for (const int result : results) {
    for (long at = 0; at < total; at += 1 + total / 300) {
      SCOPED_TRACE(at);
      stand_in.fail_after("", at, result);
      const Outcome outcome = walk(spec);
      stand_in.fail_no_more();
      if (outcome.status == RC_OK) {
        EXPECT_EQ(outcome.text, good.text);
      } else {
        ++failures;
        EXPECT_LT(outcome.status, 0);
        EXPECT_NE(outcome.status, RC_E_INTERNAL) << outcome.text;
        EXPECT_FALSE(outcome.text.empty());
      }
      wait_until_closed(spec.c_str());
      ASSERT_EQ(stand_in.bytes(), 0) << outcome.text;
    }
  }
  EXPECT_GE(failures, least);
  EXPECT_EQ(walk(spec).text, good.text);
}

void expect_lack_of_memory_is_told(const StandIn& stand_in,
                                   const char* function, int result) {
  walk_to_text(stand_in.spec());  // tests the device first
  stand_in.fail_after(function, 0, result);
  const Outcome outcome = walk_to_text(stand_in.spec());
  stand_in.fail_no_more();
  EXPECT_EQ(outcome.status, RC_E_DEVICE_MEMORY) << outcome.text;
  EXPECT_NE(outcome.text.find("no memory for a buffer of"), std::string::npos)
      << outcome.text;
}

void expect_loss_is_a_status(const StandIn& stand_in, const char* function,
                             int result, const char* name) {
  const Outcome good = walk_to_text(stand_in.spec());
  stand_in.fail_after(function, 5, result);
  const Outcome outcome = walk_to_text(stand_in.spec());
  stand_in.fail_no_more();
  EXPECT_EQ(outcome.status, RC_E_DEVICE_LOST);
  EXPECT_NE(outcome.text.find(name), std::string::npos) << outcome.text;
  wait_until_closed(stand_in.spec().c_str());
  EXPECT_EQ(walk_to_text(stand_in.spec()).text, good.text);
}

void expect_same_text_everywhere(const StandIn& stand_in) {
  std::vector<std::string> specs = {"reference", stand_in.spec()};
  for (const char* other : {"opencl", "vulkan"}) {
    if (why_no_device(other).empty()) specs.emplace_back(other);
  }
  std::vector<Backend> backends;
  std::vector<Model> models;
  for (const std::string& spec : specs) {
    backends.push_back(open_backend(spec.c_str()));
    models.push_back(load_model(backends.back().get()));
  }
  for (size_t i = 0; i < specs.size(); ++i) {
    rc_model_report report = RC_MODEL_REPORT_INIT;
    EXPECT_OK(rc_model_describe(models[i].get(), &report));
    EXPECT_EQ(std::string(report.device), specs[i] + ":0");
    EXPECT_EQ(text_of(models[i].get()), text_of(models[0].get())) << specs[i];
  }
}

void expect_steps_to_be_graphs(const StandIn& stand_in, const char* tuning) {
  const char* const spec = stand_in.spec().c_str();
  const auto text = [spec] {
    const Backend backend = open_backend(spec);
    return text_of(load_model(backend.get()).get());
  };
  const long before = stand_in.graphs();
  const std::string by_graphs = text();
  EXPECT_GT(stand_in.graphs(), before);
  wait_until_closed(spec);
  const TemporaryVariable without(tuning, "graphs=0");
  const long between = stand_in.graphs();
  EXPECT_EQ(text(), by_graphs);
  EXPECT_EQ(stand_in.graphs(), between);
  wait_until_closed(spec);
}

void expect_weights_once(const StandIn& stand_in) {
  const Backend first = open_backend(stand_in.spec().c_str());
  const long empty = stand_in.bytes();
  const Model model = load_model(first.get());
  const long one = stand_in.bytes() - empty;
  const Backend second = open_backend(stand_in.spec().c_str());
  const Model same = load_model(second.get());
  EXPECT_LT(stand_in.bytes() - empty, one + one / 2);
  EXPECT_EQ(text_of(same.get()), text_of(model.get()));
}

void expect_situations(const StandIn& stand_in, const std::string& command,
                       const std::vector<Situation>& situations) {
  RC_NEEDS_STAND_IN(stand_in);
  for (const Situation& one : situations) {
    SCOPED_TRACE(one.description);
    // A separate process, whose environment has the library.
    const std::string text =
        output_of(std::string(one.variables) + " RUNCIBLE_CONFIG= '" + command +
                  "' devices 2>&1");
    EXPECT_NE(text.find(one.expected), std::string::npos) << text;
    // A stand-in is never taken for a GPU.
    EXPECT_EQ(text.find("(gpu"), std::string::npos) << text;
  }
}

}  // namespace rc::test
