#include "files/gguf/verify.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <utility>

#include "base/error.h"
#include "files/gguf/writer.h"
#include "files/gguf/written.h"
#include "temporary.h"
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

TEST(Verify, ReportsProgressAndCanBeStopped) {
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

class VerifyChanges : public testing::Test {
 protected:
  VerifyChanges() {
    // More than is read at once.
    const std::vector<float> values(1'000'000);
    Writer writer;
    writer.add_tensor("t", RC_DTYPE_F32, std::array<int64_t, 1>{1'000'000},
                      std::span<const float>(values));
    writer.write_file(path_);
    std::filesystem::last_write_time(
        path_,
        std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
    file_ = File::open(path_);
  }
  // Verifies; `change` happens after the first piece.
  void expect_noticed(const std::function<void()>& change,
                      std::initializer_list<const char*> parts) const {
    bool changed = false;
    const auto [status, message] = outcome(*file_, [&](uint64_t, uint64_t) {
      if (!std::exchange(changed, true)) change();
      return true;
    });
    EXPECT_EQ(status, RC_E_IO);
    EXPECT_NE(message.find(path_), std::string::npos) << message;
    for (const char* part : parts) {
      EXPECT_NE(message.find(part), std::string::npos) << message;
    }
  }

  rc::test::TemporaryFolder folder_;
  const std::string path_ = (folder_.path() / "model.gguf").string();
  std::shared_ptr<const File> file_;
};

TEST_F(VerifyChanges, NoticesAShortenedFile) {
  EXPECT_EQ(outcome(*file_).status, RC_OK);
  expect_noticed([&] { std::filesystem::resize_file(path_, 3'000'000); },
                 {"tensor 't'", "cut short", "3000000"});
  // As it is now.
  expect_noticed([] {}, {"tensor 't'", "cut short", "3000000"});
}

TEST_F(VerifyChanges, NoticesAnOverwrittenFile) {
  expect_noticed(
      [&] {
        std::fstream(path_, std::ios::in | std::ios::out | std::ios::binary)
            << "GGUF";
      },
      {"written to"});
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

TEST(Verify, AcceptsTheFixtures) {
  expect_all_in_order(rc::test::source_path("tests/golden"), 20);
}

TEST(Verify, AcceptsRealModels) {
  expect_all_in_order(rc::test::source_path("examples/model"), 1);
  const auto folder = rc::test::shared_path("models");
  if (!folder.empty()) expect_all_in_order(folder, 8);
}

}  // namespace
}  // namespace rc::gguf
