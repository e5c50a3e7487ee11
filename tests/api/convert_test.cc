// Folders and files written as files, through the C ABI.
#include <gtest/gtest.h>

#include <filesystem>

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

TEST_F(ModelConvert, LeavesNothingIfItFails) {
  const auto convert = [&](const char* from, const char* type) {
    return rc_model_convert(from, target().c_str(), type, nullptr, nullptr);
  };
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, convert(nullptr, nullptr), "from: NULL");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, convert("", nullptr), "from: empty");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, convert(folder().c_str(), "Q9"),
               "type 'Q9'", "Q8_0");
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
