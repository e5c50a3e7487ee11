// Models in several files, written by the gguf package, and invalid ones.
#include "files/gguf/parts.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <string>

#include "base/error.h"
#include "files/gguf/mapped_tensors.h"
#include "files/gguf/writer.h"
#include "temporary.h"
#include "test_data.h"

namespace rc::gguf {
namespace {

namespace fs = std::filesystem;

std::shared_ptr<const File> join(const fs::path& path) {
  return join_parts(File::open(path.string()));
}

std::shared_ptr<const File> whole() {
  return File::open(
      rc::test::source_path("tests/golden/architectures/smollm.gguf").string());
}

class Parts : public testing::Test {
 protected:
  Parts() {
    for (const auto& entry :
         fs::directory_iterator(rc::test::source_path("tests/golden/parts"))) {
      if (entry.path().extension() != ".gguf") continue;
      fs::copy(entry.path(), folder_.path() / entry.path().filename());
    }
  }
  fs::path path(const std::string& name) const { return folder_.path() / name; }

  // A part with other metadata, tensors under other names, or both.
  void write(const std::string& name, int number, int count, int tensors,
             const std::vector<std::string>& names,
             const std::function<void(Writer&)>& more = {}) const {
    Writer writer;
    writer.add("split.no", static_cast<uint16_t>(number));
    writer.add("split.count", static_cast<uint16_t>(count));
    writer.add("split.tensors.count", int32_t{tensors});
    if (more) more(writer);
    const std::vector<int64_t> shape = {8};
    const std::vector<float> values(8, 1.0f);
    for (const std::string& tensor : names) {
      writer.add_tensor(tensor, RC_DTYPE_F32, shape, std::span(values));
    }
    writer.write_file(path(name).string());
  }
  void expect_refused(const std::string& name, rc_status status,
                      const std::string& message) const {
    try {
      join(path(name));
      FAIL() << "accepted; expected: " << message;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), status) << error.message();
      EXPECT_NE(error.message().find(message), std::string::npos)
          << error.message();
    }
  }

 private:
  rc::test::TemporaryFolder folder_;
};

TEST_F(Parts, AnyPartOpensTheWholeFile) {
  const auto want = whole();
  int count = 0;
  for (const auto& entry : fs::directory_iterator(path(""))) {
    const auto file = join(entry.path());
    ++count;
    EXPECT_TRUE(file->name().ends_with(".gguf"));
    EXPECT_NE(file->name().find("-00001-of-"), std::string::npos);
    ASSERT_EQ(file->tensors().size(), want->tensors().size());
    EXPECT_EQ(file->entries().size(), want->entries().size());
    EXPECT_GT(file->identity()->files.size(), 1u);
    const MappedTensors mapped(file, /*guarded=*/true);
    for (const Tensor& tensor : want->tensors()) {
      const Tensor* copy = file->find_tensor(tensor.name);
      ASSERT_NE(copy, nullptr) << tensor.name;
      EXPECT_EQ(copy->shape, tensor.shape);
      EXPECT_EQ(copy->dtype, tensor.dtype);
      const auto bytes = want->read(tensor);
      EXPECT_EQ(file->read(*copy), bytes) << tensor.name;
      EXPECT_EQ(std::memcmp(mapped.data(*copy), bytes.data(), bytes.size()), 0);
    }
    mapped.check();
    EXPECT_FALSE(mapped.damaged());
    file->check_unchanged();
  }
  EXPECT_GE(count, 5);
}

TEST_F(Parts, SingleFileIsUnchanged) {
  const auto file = whole();
  EXPECT_EQ(join_parts(file), file);
  write("single.gguf", 0, 1, 1, {"a"});
  EXPECT_EQ(join(path("single.gguf"))->tensors().size(), 1u);
}

TEST_F(Parts, MissingPartIsNamed) {
  write("m-00001-of-00002.gguf", 0, 2, 2, {"a"});
  expect_refused("m-00001-of-00002.gguf", RC_E_NOT_FOUND,
                 "m-00002-of-00002.gguf: part 2 of 2 is missing");
  write("other.gguf", 0, 2, 2, {"a"});
  expect_refused("other.gguf", RC_E_FORMAT,
                 "must end with -00001-of-00002.gguf");
  write("m-00002-of-00002.gguf", 1, 2, 2, {"b"});
  EXPECT_EQ(join(path("m-00002-of-00002.gguf"))->tensors().size(), 2u);
  fs::remove(path("m-00001-of-00002.gguf"));
  expect_refused("m-00002-of-00002.gguf", RC_E_NOT_FOUND,
                 "m-00001-of-00002.gguf: part 1 of 2 is missing");
}

TEST_F(Parts, PartsOfOtherModelsAreRefused) {
  const std::string first = "m-00001-of-00002.gguf";
  const std::string second = "m-00002-of-00002.gguf";
  write(first, 0, 2, 2, {"a"});
  write(second, 1, 2, 2, {"a"});
  expect_refused(first, RC_E_FORMAT, "both hold tensor 'a'");
  write(second, 1, 2, 2, {"b", "c"});
  expect_refused(first, RC_E_FORMAT,
                 "split.tensors.count is 2, but its 2 parts hold 3");
  write(second, 1, 2, 3, {"b"});
  expect_refused(first, RC_E_FORMAT, "split.tensors.count is 3, not 2");
  write(second, 0, 2, 2, {"b"});
  expect_refused(first, RC_E_FORMAT, "split.no is 0, not 1");
  write(second, 1, 3, 2, {"b"});
  expect_refused(first, RC_E_FORMAT, "split.count is 3, not 2");
  write(second, 1, 2, 2, {"b"},
        [](Writer& writer) { writer.add("general.architecture", "qwen2"); });
  expect_refused(first, RC_E_FORMAT, "'general.architecture' is not in");
  write(first, 0, 2, 2, {"a"},
        [](Writer& writer) { writer.add("general.architecture", "llama"); });
  expect_refused(first, RC_E_FORMAT,
                 "'general.architecture' has another value in");
}

TEST_F(Parts, NumbersHaveLimits) {
  write("m-00001-of-09999.gguf", 0, 9999, 2, {"a"});
  expect_refused("m-00001-of-09999.gguf", RC_E_FORMAT,
                 "split.count is 9999; 0 to 4096");
  write("m-00004-of-00003.gguf", 3, 3, 2, {"a"});
  expect_refused("m-00004-of-00003.gguf", RC_E_FORMAT,
                 "split.no is 3; with a split.count of 3, 0 to 2");
}

}  // namespace
}  // namespace rc::gguf
