// The CBLAS library: its choice, the reasons for refusing one, and its threads.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/library.h"
#include "blas/cblas.h"
#include "device/module_util.h"

namespace rc::test {
namespace {

constexpr char kVariable[] = "RUNCIBLE_BLAS_LIBRARY";

// Returns the reason that a module gives for having no device.
std::string refusal(const std::string& library) {
  const TemporaryFolder folder;
  const TemporaryVariable given(kVariable, library);
  const rc_plugin* table = fresh_table(RC_BLAS_MODULE, folder);
  if (table == nullptr) return "it is no module";
  int32_t count = -1;
  char message[RC_PLUGIN_MESSAGE_BYTES] = "";
  EXPECT_EQ(table->device_count(&count, message), RC_E_BACKEND_UNAVAILABLE);
  EXPECT_EQ(count, 0);
  rc_plugin_device* device = nullptr;
  const rc_plugin_open_options options = {
      sizeof options,        0,          0, [](rc_log_level, const char*) {},
      RC_PLUGIN_ABI_VERSION, RC_NUMA_OFF};
  char again[RC_PLUGIN_MESSAGE_BYTES] = "";
  EXPECT_EQ(table->open(0, &options, &device, again), RC_E_BACKEND_UNAVAILABLE);
  EXPECT_EQ(device, nullptr);
  EXPECT_STREQ(again, message);
  return message;
}

void expect_parts(const std::string& message,
                  std::initializer_list<const char*> parts) {
  for (const char* part : parts) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
}

TEST(BlasLibrary, MissingFileIsNamedInTheError) {
  expect_parts(refusal("/no/libopenblas.so.0"),
               {"/no/libopenblas.so.0", "cannot be loaded", kVariable});
}

TEST(BlasLibrary, InvalidLibraryIsNamedInTheError) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "text.so";
  std::ofstream(file) << "no library";
  expect_parts(refusal(file.string()), {"text.so", "cannot be loaded"});
}

TEST(BlasLibrary, MissingFunctionIsNamedInTheError) {
  expect_parts(refusal("libm.so.6"), {"libm.so.6", "has no cblas_sgemm"});
  expect_parts(refusal(RC_CBLAS_LACKING), {"has no cblas_sgemm", "64_"});
}

TEST(BlasLibrary, LibraryWithWrongResultsIsRefused) {
  expect_parts(refusal(RC_CBLAS_WRONG), {"computes a small product wrongly"});
}

TEST(BlasLibrary, IsLoadedAgainAfterAFailure) {
  const TemporaryFolder folder;
  const rc_plugin* table = fresh_table(RC_BLAS_MODULE, folder);
  ASSERT_NE(table, nullptr);
  int32_t count = -1;
  char message[RC_PLUGIN_MESSAGE_BYTES] = "";
  {
    const TemporaryVariable none(kVariable, "/no/libopenblas.so.0");
    EXPECT_EQ(table->device_count(&count, message), RC_E_BACKEND_UNAVAILABLE);
  }
  const TemporaryVariable given(kVariable, RC_CBLAS_PLAIN);
  ASSERT_EQ(table->device_count(&count, message), RC_OK) << message;
  EXPECT_EQ(count, 1);
  rc_plugin_device_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(table->device_info(0, &info, message), RC_OK) << message;
  EXPECT_STREQ(info.name, RC_CBLAS_PLAIN);
  EXPECT_EQ(info.kind, RC_DEVICE_SOFTWARE);
  for (const int32_t index : {-1, 1}) {
    EXPECT_EQ(table->device_info(index, &info, message), RC_E_NOT_FOUND);
  }
}

blas::Cblas load_library(const char* name) {
  return blas::Cblas(rc::Library::load(name), name);
}

template <class T>
void expect_product(const blas::Cblas& library) {
  const T a[] = {1, 2, 3, 4, 5, 6};  // [3, 2]
  const T b[] = {1, 0, 2, 0, 1, 3};  // [2, 3]
  T c[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  library.multiply(blas::Product<T>{3, 3, 2, a, 2, b, 3, false, c, 3, true});
  const std::vector<T> expected = {2, 3, 9, 4, 5, 19, 6, 7, 29};
  EXPECT_EQ(std::vector<T>(std::begin(c), std::end(c)), expected);
}

TEST(BlasLibrary, DetectsTheWidthOfIntegers) {
  const blas::Cblas narrow = load_library(RC_CBLAS_PLAIN);
  EXPECT_FALSE(narrow.is_wide());
  EXPECT_EQ(narrow.largest(), INT32_MAX);
  expect_product<float>(narrow);
  expect_product<double>(narrow);
  const blas::Cblas wide = load_library(RC_CBLAS_WIDE);
  EXPECT_TRUE(wide.is_wide());
  EXPECT_EQ(wide.largest(), INT64_MAX);
  expect_product<float>(wide);
  expect_product<double>(wide);
}

TEST(BlasLibrary, DetectsALibraryThatSkipsZeros) {
  EXPECT_TRUE(load_library(RC_CBLAS_PLAIN).multiplies_zeros());
  EXPECT_FALSE(load_library(RC_CBLAS_SKIPPING).multiplies_zeros());
}

TEST(BlasLibrary, UsesOneThreadDuringProductsAndRestoresTheNumber) {
  const rc::Library same = rc::Library::load(RC_CBLAS_PLAIN);
  int (*threads)() = nullptr;
  ASSERT_TRUE(same.find(threads, "openblas_get_num_threads"));
  const blas::Cblas library = load_library(RC_CBLAS_PLAIN);
  ASSERT_EQ(threads(), 3);
  {
    const blas::OneThread first(library);
    EXPECT_EQ(threads(), 1);
    std::thread([&] {
      const blas::OneThread second(library);
      EXPECT_EQ(threads(), 1);
    }).join();
    EXPECT_EQ(threads(), 1) << "one is still there";
  }
  EXPECT_EQ(threads(), 3);
}

}  // namespace
}  // namespace rc::test
