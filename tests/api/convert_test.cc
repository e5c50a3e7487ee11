// Folders and files written as files, through the C ABI.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "api/api_util.h"
#include "temporary.h"
#include "test_data.h"

namespace rc::test {
namespace {

std::string folder() {
  return source_path("tests/golden/folders/qwen2").string();
}

class ModelConvert : public ::testing::Test {
 protected:
  std::string target() const { return (folder_.path() / "out.gguf").string(); }
  size_t files_left() const {
    return static_cast<size_t>(
        std::distance(std::filesystem::directory_iterator(folder_.path()),
                      std::filesystem::directory_iterator()));
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(ModelConvert, WritesAModelThatLoads) {
  double last = -1.0;
  EXPECT_OK(rc_model_convert(
      folder().c_str(), target().c_str(), "bf16",
      [](void* user, double fraction) -> int32_t {
        *static_cast<double*>(user) = fraction;
        return 0;
      },
      &last));
  EXPECT_EQ(last, 1.0);
  EXPECT_OK(rc_model_verify(target().c_str()));
  const Backend backend = open_backend();
  for (const std::string& path : {folder(), target()}) {
    rc_model* model = nullptr;
    EXPECT_OK(rc_model_load(backend.get(), path.c_str(), nullptr, &model));
    rc_model_report report = RC_MODEL_REPORT_INIT;
    EXPECT_OK(rc_model_describe(model, &report));
    EXPECT_STREQ(report.architecture, "qwen2");
    EXPECT_EQ(report.layers, 2);
    rc_model_release(model);
  }
}

TEST_F(ModelConvert, LeavesNoFileIfItFails) {
  const auto convert = [&](const char* from, const char* type) {
    return rc_model_convert(from, target().c_str(), type, nullptr, nullptr);
  };
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, convert(nullptr, nullptr), "from: NULL");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, convert("", nullptr), "from: empty");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, convert(folder().c_str(), "Q9"),
               "type 'Q9'", "Q8_0");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, convert(folder().c_str(), ""),
               "type: empty");
  EXPECT_FAILS(RC_E_NOT_FOUND, convert("/no/such", nullptr), "/no/such");
  EXPECT_FAILS(
      RC_E_INVALID_ARGUMENT,
      rc_model_convert(folder().c_str(), nullptr, nullptr, nullptr, nullptr),
      "to: NULL");
  EXPECT_FAILS(
      RC_E_INVALID_ARGUMENT,
      rc_model_convert(folder().c_str(), "", nullptr, nullptr, nullptr),
      "to: empty");
  EXPECT_FAILS(RC_E_CANCELLED,
               rc_model_convert(
                   folder().c_str(), target().c_str(), nullptr,
                   [](void*, double fraction) -> int32_t {
                     return fraction > 0.5 ? 1 : 0;
                   },
                   nullptr),
               "cancelled");
  EXPECT_FAILS(RC_E_INTERNAL,
               rc_model_convert(
                   folder().c_str(), target().c_str(), nullptr,
                   [](void*, double) -> int32_t { throw 1; }, nullptr),
               "the progress callback");
  EXPECT_EQ(files_left(), 0u);
}

struct ConvertEnd {
  int calls = 0;
  rc_status status = RC_OK;
  std::string message;
  std::thread::id thread;
};

void on_convert_end(void* user, rc_status status, const char* message) {
  auto* end = static_cast<ConvertEnd*>(user);
  ++end->calls;
  end->status = status;
  end->message = message == nullptr ? "" : message;
  end->thread = std::this_thread::get_id();
}

void wait_for(rc_loop* loop, const ConvertEnd& end) {
  while (end.calls == 0) {
    ASSERT_OK(rc_loop_wait(loop, 100));
    ASSERT_OK(rc_loop_dispatch(loop, 0, nullptr));
  }
}

TEST_F(ModelConvert, EndsOnTheLoop) {
  rc_loop* loop = nullptr;
  ASSERT_OK(rc_loop_create(&loop));
  ConvertEnd converted, quantized;
  ASSERT_OK(rc_model_convert_async(folder().c_str(), target().c_str(), "F32",
                                   nullptr, nullptr, loop, on_convert_end,
                                   &converted));
  wait_for(loop, converted);
  EXPECT_EQ(converted.status, RC_OK) << converted.message;
  EXPECT_EQ(converted.thread, std::this_thread::get_id());
  rc_quantize_options options = RC_QUANTIZE_OPTIONS_INIT;
  options.type = "q8_0";
  options.threads = 2;
  ASSERT_OK(rc_model_quantize_async(folder().c_str(), target().c_str(),
                                    &options, loop, on_convert_end,
                                    &quantized));
  wait_for(loop, quantized);
  EXPECT_EQ(quantized.status, RC_OK) << quantized.message;
  EXPECT_OK(rc_model_verify(target().c_str()));
  ConvertEnd failed;
  ASSERT_OK(rc_model_quantize_async("/no/such", target().c_str(), &options,
                                    loop, on_convert_end, &failed));
  wait_for(loop, failed);
  EXPECT_EQ(failed.status, RC_E_NOT_FOUND) << failed.message;
  ConvertEnd cancelled;
  std::atomic<bool> closed = false;
  options.progress = [](void* user, double) -> int32_t {
    const auto& wait = *static_cast<std::atomic<bool>*>(user);
    while (!wait) std::this_thread::yield();
    return 0;
  };
  options.progress_user = &closed;
  ASSERT_OK(rc_model_quantize_async(folder().c_str(), target().c_str(),
                                    &options, loop, on_convert_end,
                                    &cancelled));
  ASSERT_OK(rc_loop_close(loop));
  closed = true;
  wait_for(loop, cancelled);
  EXPECT_EQ(cancelled.status, RC_E_CANCELLED) << cancelled.message;
  rc_loop_release(loop);
}

TEST_F(ModelConvert, QuantizeErrorsNameTheFault) {
  rc_quantize_options options = RC_QUANTIZE_OPTIONS_INIT;
  const auto quantize = [&] {
    return rc_model_quantize(folder().c_str(), target().c_str(), &options);
  };
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, quantize(), "options->type: NULL");
  options.type = "Q9";
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, quantize(), "type 'Q9'", "Q4_K_M");
  options.type = "Q8_0";
  options.threads = -1;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, quantize(), "options->threads");
  options.threads = 0;
  options.tensor_count = 1;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, quantize(), "options->tensors: NULL");
  const char* const tensors[] = {"attn_q=Q5_0"};
  options.tensors = tensors;
  EXPECT_OK(quantize());
  std::filesystem::remove(target());
  options.importance = "/no/such";
  EXPECT_FAILS(RC_E_NOT_FOUND, quantize(), "/no/such");
  EXPECT_EQ(files_left(), 0u);
  EXPECT_STREQ(rc_conversion_type(0), "F32");
  EXPECT_EQ(rc_conversion_type(1000), nullptr);
}

TEST_F(ModelConvert, FoldersCannotStayMapped) {
  const Backend backend = open_backend();
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  options.keep_mapped = 1;
  rc_model* model = nullptr;
  EXPECT_FAILS(RC_E_UNSUPPORTED,
               rc_model_load(backend.get(), folder().c_str(), &options, &model),
               "cannot stay mapped");
  EXPECT_FAILS(RC_E_UNSUPPORTED,
               try_plan(backend.get(), folder().c_str(), &options),
               "cannot stay mapped");
}

}  // namespace
}  // namespace rc::test
