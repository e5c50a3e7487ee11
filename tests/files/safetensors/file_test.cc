// Safetensors files: those that transformers writes, and invalid ones.
#include "files/safetensors/file.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/error.h"
#include "files/safetensors/bytes.h"
#include "files/safetensors/shards.h"
#include "temporary.h"
#include "test_data.h"

namespace rc::safetensors {
namespace {

using rc::test::source_path;
using rc::test::TemporaryFolder;
using test::file_bytes;
using test::write_file;

template <class Call>
void expect_refused(const Call& call, rc_status status,
                    std::string_view message) {
  try {
    call();
    ADD_FAILURE() << "accepted, but should say: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), status) << error.message();
    EXPECT_NE(error.message().find(message), std::string::npos)
        << error.message();
  }
}

TEST(SafetensorsFile, IsReadInAnyPart) {
  const auto path = source_path("tests/golden/folders/qwen2/model.safetensors");
  const auto file = File::open(OpenFile::open(path.string()));
  const Tensor* table = file->find("model.embed_tokens.weight");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->type->name, "BF16");
  EXPECT_EQ(table->shape, (std::vector<int64_t>{64, 32}));
  EXPECT_EQ(table->bytes, 64u * 32 * 2);
  EXPECT_EQ(file->find("model.embed_tokens"), nullptr);
  std::vector<std::byte> all(table->bytes);
  file->read(*table, 0, all);
  std::vector<std::byte> part(100);
  file->read(*table, 77, part);
  EXPECT_TRUE(std::equal(part.begin(), part.end(), all.begin() + 77));
}

TEST(SafetensorsHeader, AcceptsWhatTheFormatAllows) {
  const auto tensors = parse_header(
      R"({"__metadata__": {"format": "pt"},
          "scalar": {"dtype": "F32", "shape": [], "data_offsets": [0, 4]},
          "none": {"shape": [0, 3], "data_offsets": [4, 4], "dtype": "I64"},
          "half": {"dtype": "F4", "shape": [2], "data_offsets": [4, 5]}}   )",
      5, "file");
  ASSERT_EQ(tensors.size(), 3u);
  EXPECT_EQ(tensors[0].name, "half");
  EXPECT_EQ(tensors[1].bytes, 0u);
  EXPECT_TRUE(tensors[2].shape.empty());
  EXPECT_TRUE(parse_header("{}", 0, "file").empty());
}

struct Hostile {
  const char* header;
  uint64_t data_bytes;
  const char* message;
};

class HostileHeader : public ::testing::TestWithParam<Hostile> {};

TEST_P(HostileHeader, IsRefusedByName) {
  const Hostile& hostile = GetParam();
  expect_refused(
      [&] { parse_header(hostile.header, hostile.data_bytes, "file"); },
      RC_E_FORMAT, hostile.message);
}

INSTANTIATE_TEST_SUITE_P(
    Headers, HostileHeader,
    ::testing::Values(
        Hostile{"", 0, "no JSON"}, Hostile{"[]", 0, "an array"},
        Hostile{"1", 0, "a number"}, Hostile{"{} {}", 0, "no JSON"},
        Hostile{R"({"a": 1})", 0, "a number within 'a'"},
        Hostile{R"({"a": {}})", 0, "'a': it has no dtype"},
        Hostile{R"({"a": {"dtype": "F32", "data_offsets": [0, 4]}})", 4,
                "'a': it has no shape"},
        Hostile{R"({"a": {"dtype": "F32", "shape": [1]}})", 4,
                "'a': it does not have two data_offsets"},
        Hostile{R"({"a": {"dtype": "F32", "shape": [1],
                          "data_offsets": [0]}})",
                4, "two data_offsets"},
        Hostile{R"({"a": {"dtype": "F32", "shape": [1],
                          "data_offsets": [0, 4, 8]}})",
                4, "more than two data_offsets"},
        Hostile{R"({"a": {"dtype": "F32", "dtype": "F16", "shape": [1],
                          "data_offsets": [0, 4]}})",
                4, "'a': it has two dtype"},
        Hostile{R"({"a": {"dtype": "F32", "shape": [1], "shape": [1],
                          "data_offsets": [0, 4]}})",
                4, "'a': it has two shape"},
        Hostile{R"({"a": {"dtype": "F32", "shape": [1], "x": 1,
                          "data_offsets": [0, 4]}})",
                4, "'a': it has a member 'x'"},
        Hostile{R"({"a": {"dtype": "F32", "shape": [[1]],
                          "data_offsets": [0, 4]}})",
                4, "an array within 'a'"},
        Hostile{R"({"a": {"dtype": "F32", "shape": [-1],
                          "data_offsets": [0, 4]}})",
                4, "a negative number within 'a'"},
        Hostile{R"({"a": {"dtype": "F32", "shape": [1.0],
                          "data_offsets": [0, 4]}})",
                4, "a fraction, or a number beyond 2^64 within 'a'"},
        Hostile{R"({"a": {"dtype": "F32", "shape": [99999999999999999999],
                          "data_offsets": [0, 4]}})",
                4, "a fraction, or a number beyond 2^64 within 'a'"},
        Hostile{R"({"a": {"dtype": "F32", "shape": [9223372036854775808],
                          "data_offsets": [0, 4]}})",
                4, "'a': a dimension of 9223372036854775808"},
        Hostile{R"({"a": {"dtype": "F32", "data_offsets": [0, 4],
                   "shape": [4294967296, 4294967296, 4294967296]}})",
                4, "'a': its size exceeds"},
        Hostile{R"({"a": {"dtype": "F32", "shape": [1,1,1,1,1,1,1,1,1],
                          "data_offsets": [0, 4]}})",
                4, "'a': it has more than 8 dimensions"},
        Hostile{R"({"a": {"dtype": "F4", "shape": [3],
                          "data_offsets": [0, 1]}})",
                1, "'a': its 12 bits are no whole bytes"},
        Hostile{R"({"a": {"dtype": "F32", "shape": [2],
                          "data_offsets": [0, 4]}})",
                4, "'a': its data_offsets 0 to 4 do not hold the 8 bytes"},
        Hostile{R"({"a": {"dtype": "F32", "shape": [1],
                          "data_offsets": [4, 0]}})",
                4, "'a': its data_offsets 4 to 0"},
        Hostile{R"({"a": {"dtype": "F32", "shape": [1],
                          "data_offsets": [4, 8]}})",
                4, "'a': its 4 bytes at offset 4 reach beyond"},
        Hostile{R"({"a": {"dtype": "U8", "shape": [2],
                    "data_offsets": [18446744073709551613,
                                     18446744073709551615]}})",
                4, "'a': its 2 bytes at offset 18446744073709551613 reach"},
        Hostile{R"({"a": {"dtype": "F32", "shape": [1],
                          "data_offsets": [0, 4]},
                    "b": {"dtype": "F32", "shape": [1],
                          "data_offsets": [2, 6]}})",
                6, "tensors 'a' and 'b' overlap at offset 2"},
        Hostile{R"({"a": {"dtype": "F32", "shape": [1],
                          "data_offsets": [0, 4]},
                    "b": {"dtype": "F32", "shape": [1],
                          "data_offsets": [8, 12]}})",
                12, "the bytes at offset 4 are, before tensor 'b'"},
        Hostile{R"({"a": {"dtype": "F32", "shape": [1],
                          "data_offsets": [0, 4]}})",
                5, "the 1 bytes behind the last tensor"},
        Hostile{R"({"a": {"dtype": "F32", "shape": [1],
                          "data_offsets": [0, 4]},
                    "a": {"dtype": "F32", "shape": [1],
                          "data_offsets": [4, 8]}})",
                8, "tensor 'a' occurs twice"},
        Hostile{R"({"": {}})", 0, "the name of a tensor is empty"},
        Hostile{R"({"a\u0000b": {}})", 0, "a zero byte"},
        Hostile{R"({"__metadata__": {"a": {}}})", 0, "an object"},
        Hostile{"{\"\xFF\": {}}", 0, "no JSON"}));

TEST(SafetensorsHeader, RefusesTooLongNamesAndArrays) {
  const std::string name(513, 'n');
  expect_refused([&] { parse_header("{\"" + name + "\": {}}", 0, "file"); },
                 RC_E_FORMAT, "its name has 513 bytes; at most 512");
  expect_refused([&] { parse_header(std::string(1'000'000, '['), 0, "file"); },
                 RC_E_FORMAT, "an array");
}

TEST(SafetensorsHeader, NamesAnUnknownType) {
  expect_refused(
      [] {
        parse_header(
            R"({"a": {"dtype": "F128", "shape": [], "data_offsets": [0, 16]}})",
            16, "file");
      },
      RC_E_UNSUPPORTED, "tensor 'a': type 'F128' is not known");
}

TEST(SafetensorsFile, RefusesInvalidHeaders) {
  TemporaryFolder folder;
  const auto path = folder.path() / "x.safetensors";
  const auto open = [&] { File::open(OpenFile::open(path.string())); };
  write_file(path, "short");
  expect_refused(open, RC_E_FORMAT, "a file of 5 bytes");
  for (const uint64_t length : {uint64_t{9}, uint64_t{1} << 63, ~uint64_t{0}}) {
    std::string bytes(reinterpret_cast<const char*>(&length), 8);
    write_file(path, bytes + "{}");
    expect_refused(open, RC_E_FORMAT, "at most 2 are possible");
  }
}

class ShardsTest : public ::testing::Test {
 protected:
  // One tensor of 4 bytes for each name.
  void write(const std::string& file, const std::vector<std::string>& names) {
    std::string header = "{";
    for (size_t i = 0; i < names.size(); ++i) {
      header += cat(i > 0 ? "," : "", "\"", names[i],
                    R"(": {"dtype": "F32", "shape": [1], "data_offsets": [)",
                    4 * i, ",", 4 * i + 4, "]}");
    }
    write_file(folder_.path() / file,
               file_bytes(header + "}", 4 * names.size()));
  }
  Shards open(std::string_view index) {
    return Shards::of_index(index, "index", [&](const std::string& name) {
      return OpenFile::open((folder_.path() / name).string());
    });
  }

  TemporaryFolder folder_;
};

TEST_F(ShardsTest, ContainTheTensorsOfTheIndex) {
  write("1", {"a", "c"});
  write("2", {"b"});
  const Shards shards = open(R"({"metadata": {"total_size": 12, "x": [[{}]]},
               "weight_map": {"c": "1", "a": "1", "b": "2"}})");
  ASSERT_EQ(shards.places().size(), 3u);
  EXPECT_EQ(shards.places()[1].tensor->name, "b");
  EXPECT_EQ(shards.places()[1].file->name(), (folder_.path() / "2").string());
}

TEST_F(ShardsTest, WrongIndexIsRefused) {
  write("1", {"a", "c"});
  write("2", {"b"});
  const auto refused = [&](const char* index, const char* message) {
    expect_refused([&] { open(index); }, RC_E_FORMAT, message);
  };
  refused(R"({"weight_map": {"a": "1", "c": "1", "b": "1"}})",
          "1: tensor 'b' is missing");
  refused(R"({"weight_map": {"a": "1", "c": "2", "b": "2"}})",
          "2: tensor 'c' is missing");
  refused(R"({"weight_map": {"a": "1", "b": "2", "c": "1", "d": "2"}})",
          "2: tensor 'd' is missing");
  refused(R"({"weight_map": {"a": "1", "b": "2"}})",
          "1: it holds tensor 'c', which index does not name");
  refused(R"({"weight_map": {"a": "1", "a": "1", "b": "2", "c": "1"}})",
          "tensor 'a' occurs twice");
  refused(R"({"weight_map": {"a": 1}})", "tensor 'a' is in no file by name");
  refused(R"({"weight_map": {"a": ["1"]}})",
          "tensor 'a' is in no file by name");
  refused(R"({"weight_map": {}, "weight_map": {}})", "two weight_map");
  refused(R"({"weight_map": "1"})", "it has no weight_map");
  refused("{", "no JSON");
  refused("[]", "no JSON object");
  write("2", {"a", "b"});
  refused(R"({"weight_map": {"a": "1", "b": "2", "c": "1"}})",
          "both hold tensor 'a'");
}

TEST_F(ShardsTest, MissingShardIsNamed) {
  write("1", {"a"});
  expect_refused([&] { open(R"({"weight_map": {"a": "1", "b": "2"}})"); },
                 RC_E_NOT_FOUND, "/2: no such file");
}

}  // namespace
}  // namespace rc::safetensors
