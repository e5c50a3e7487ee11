#include "gguf/verify.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "base/error.h"
#include "gguf/writer.h"
#include "tensor/blocks.h"
#include "test_data.h"

namespace rc::gguf {
namespace {

struct Outcome {
  rc_status status;
  std::string message;
};

Outcome outcome(const File& file, const VerifyProgress& progress = {}) {
  try {
    verify(file, progress);
  } catch (const Error& error) {
    return {error.status(), error.message()};
  }
  return {RC_OK, ""};
}

std::shared_ptr<const File> reopen(const Writer& writer) {
  const auto bytes =
      std::make_shared<std::vector<std::byte>>(writer.write_memory());
  return File::from_memory(bytes, *bytes, "written");
}

TEST(Verify, NamesTheFirstValueThatIsNotFinite) {
  for (const float bad : {std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN()}) {
    std::vector<float> values(3 * 20'000, 1.0f);
    values[2 * 20'000 + 17] = -bad;
    values[2 * 20'000 + 18] = bad;
    Writer writer;
    writer.add_tensor("good", RC_DTYPE_F32, std::array<int64_t, 1>{16},
                      std::span<const float>(values).first(16));
    writer.add_tensor("bad", RC_DTYPE_F32, std::array<int64_t, 2>{3, 20'000},
                      std::span<const float>(values));
    const auto [status, message] = outcome(*reopen(writer));
    EXPECT_EQ(status, RC_E_FORMAT);
    EXPECT_NE(message.find("tensor 'bad'"), std::string::npos) << message;
    EXPECT_NE(message.find("[2, 17]"), std::string::npos) << message;
  }
}

TEST(Verify, FindsScalesThatAreNotFinite) {
  std::array<BlockQ4_0, 4> blocks{};
  blocks[3].scale = 0x7C00;
  Writer writer;
  writer.add_tensor("q", RC_DTYPE_Q4_0, std::array<int64_t, 2>{2, 64},
                    std::as_bytes(std::span(blocks)));
  const auto [status, message] = outcome(*reopen(writer));
  EXPECT_EQ(status, RC_E_FORMAT);
  EXPECT_NE(message.find("'q' of type Q4_0"), std::string::npos) << message;
  EXPECT_NE(message.find("[1, 32]"), std::string::npos) << message;
}

TEST(Verify, NamesATypeWithoutDecoderAfterEverythingElse) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::byte> data(66);
  for (const float value : {1.0f, nan}) {
    Writer writer;
    writer.add_tensor("odd", RC_DTYPE_IQ2_XXS, std::array<int64_t, 1>{256},
                      data);
    writer.add_tensor("plain", RC_DTYPE_F32, std::array<int64_t, 1>{1},
                      std::span(&value, 1));
    const auto [status, message] = outcome(*reopen(writer));
    EXPECT_EQ(status, std::isnan(value) ? RC_E_FORMAT : RC_E_UNSUPPORTED);
    EXPECT_NE(message.find(std::isnan(value) ? "'plain'" : "IQ2_XXS"),
              std::string::npos)
        << message;
  }
}

TEST(Verify, TellsProgressAndCanBeStopped) {
  const std::vector<float> values(100'000);
  Writer writer;
  writer.add_tensor("t", RC_DTYPE_F32, std::array<int64_t, 1>{100'000},
                    std::span<const float>(values));
  const auto file = reopen(writer);
  uint64_t last = 0;
  EXPECT_EQ(outcome(*file,
                    [&](uint64_t done, uint64_t total) {
                      EXPECT_GT(done, last);
                      EXPECT_EQ(total, 400'000u);
                      last = done;
                      return true;
                    })
                .status,
            RC_OK);
  EXPECT_EQ(last, 400'000u);
  int calls = 0;
  EXPECT_EQ(
      outcome(*file, [&](uint64_t, uint64_t) { return ++calls < 2; }).status,
      RC_E_CANCELLED);
  EXPECT_EQ(calls, 2);
}

TEST(Verify, NoticesThatTheFileWasShortened) {
  std::string folder =
      std::filesystem::temp_directory_path() / "runcible-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string path = folder + "/model.gguf";
  const std::vector<float> values(100'000);
  Writer writer;
  writer.add_tensor("t", RC_DTYPE_F32, std::array<int64_t, 1>{100'000},
                    std::span<const float>(values));
  writer.write_file(path);
  const auto file = File::open(path);
  EXPECT_EQ(outcome(*file).status, RC_OK);
  std::filesystem::resize_file(path, 1000);
  const auto [status, message] = outcome(*file);
  std::filesystem::remove_all(folder);
  EXPECT_EQ(status, RC_E_IO);
  EXPECT_NE(message.find("changed from"), std::string::npos) << message;
}

void expect_all_in_order(const std::filesystem::path& folder, int least) {
  int files = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".gguf") continue;
    EXPECT_EQ(outcome(*File::open(entry.path().string())).message, "")
        << entry.path();
    ++files;
  }
  EXPECT_GE(files, least);
}

TEST(Verify, FixturesAreInOrder) {
  expect_all_in_order(test::source_path("tests/golden"), 20);
}

TEST(Verify, RealModelsAreInOrder) {
  expect_all_in_order(test::source_path("examples/model"), 1);
  const auto folder = test::shared_path("models");
  if (!folder.empty()) expect_all_in_order(folder, 8);
}

}  // namespace
}  // namespace rc::gguf
