// The greatest that safetensors files and their indices may hold, and one more.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/error.h"
#include "files/safetensors/bytes.h"
#include "files/safetensors/file.h"
#include "files/safetensors/shards.h"
#include "temporary.h"

namespace rc::safetensors {
namespace {

// "" if nothing is thrown.
template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_FORMAT) << error.message();
    return error.message();
  }
  return "";
}

std::string header_refusal(const std::string& json, uint64_t data_bytes) {
  return refusal([&] { parse_header(json, data_bytes, "file"); });
}

std::string tensor(const std::string& type, const std::string& shape,
                   uint64_t bytes) {
  return cat(R"({"a": {"dtype": ")", type, R"(", "shape": [)", shape,
             R"(], "data_offsets": [0, )", bytes, "]}}");
}

// Nothing has the name of a file.
std::string index_refusal(const std::string& json) {
  return refusal([&] {
    Shards::of_index(
        json, "index",
        [](const std::string& name) -> std::shared_ptr<const OpenFile> {
          fail(RC_E_FORMAT, "open ", name);
        });
  });
}

TEST(SafetensorsLimits, HeaderSizeIsLimited) {
  rc::test::TemporaryFolder folder;
  const std::string path = (folder.path() / "x.safetensors").string();
  const auto open = [&](uint64_t length, const std::string& json,
                        uint64_t file_bytes) {
    std::string bytes(reinterpret_cast<const char*>(&length), sizeof length);
    test::write_file(path, (bytes + json).substr(0, file_bytes));
    std::filesystem::resize_file(path, file_bytes);
    return refusal([&] { File::open(OpenFile::open(path)); });
  };
  EXPECT_EQ(open(0, "", 1),
            path + ": a file of 1 bytes is no safetensors file");
  EXPECT_EQ(open(0, "", 7),
            path + ": a file of 7 bytes is no safetensors file");
  EXPECT_NE(open(0, "", 8).find("the header is no JSON"), std::string::npos);
  EXPECT_EQ(open(2, "{}", 10), "");
  EXPECT_EQ(open(3, "{}", 10),
            path +
                ": a header of 3 bytes is announced; at most 2 are "
                "possible; it is no safetensors file, or is truncated");
  // The format's limit.
  const uint64_t most = 100'000'000;
  EXPECT_NE(open(most, "{} x", most + 100).find("the header is no JSON"),
            std::string::npos);
  EXPECT_NE(open(most + 1, "{} x", most + 100)
                .find("a header of 100000001 bytes is announced; at most "
                      "100000000 are possible"),
            std::string::npos);
}

TEST(SafetensorsLimits, TensorShapeIsLimited) {
  EXPECT_EQ(header_refusal(tensor("U8", "1,1,1,1,1,1,1,1", 1), 1), "");
  EXPECT_EQ(header_refusal(tensor("U8", "1,1,1,1,1,1,1,1,1", 1), 1),
            "file: tensor 'a': it has more than 8 dimensions");
  // 2^64 bits, and 32 less.
  EXPECT_EQ(header_refusal(tensor("F32", "576460752303423488", 1), 1),
            "file: tensor 'a': its size exceeds 2^64 bits");
  EXPECT_EQ(header_refusal(tensor("F32", "576460752303423487", 1), 1),
            "file: tensor 'a': its data_offsets 0 to 1 do not hold the "
            "2305843009213693948 bytes of its shape");
  EXPECT_EQ(header_refusal(tensor("U8", "0, 9223372036854775807", 0), 0), "");
  EXPECT_EQ(header_refusal(tensor("U8", "0, 9223372036854775808", 0), 0),
            "file: tensor 'a': a dimension of 9223372036854775808 exceeds "
            "2^63-1");
  std::string named = tensor("U8", "1", 1);
  named.replace(named.find("\"a\"") + 1, 1, std::string(512, 'n'));
  EXPECT_EQ(header_refusal(named, 1), "");
  EXPECT_EQ(header_refusal(tensor("F4", "2", 1), 1), "");
  EXPECT_EQ(header_refusal(tensor("F6_E2M3", "3", 2), 2),
            "file: tensor 'a': its 18 bits are no whole bytes");
  EXPECT_EQ(header_refusal(tensor("F6_E2M3", "4", 3), 3), "");
}

TEST(SafetensorsLimits, MisplacedValuesAreRefused) {
  const std::string fields = R"("dtype": "U8", "data_offsets": [0, 1])";
  const struct {
    std::string json;
    const char* message;
  } cases[] = {
      {R"({"a": null})", "the header has null within 'a' where none can be"},
      {R"({"a": true})", "the header has a boolean within 'a' where"},
      {R"({"a": "x"})", "the header has a string within 'a' where"},
      {R"({"a": []})", "the header has an array within 'a' where"},
      {R"({"a": {"shape": {}}})", "the header has an object within 'a' where"},
      {R"({"a": {"shape": 1}})", "the header has a number within 'a' where"},
      {R"({"a": {"shape": "1"}})", "the header has a string within 'a' where"},
      {R"({"a": {"dtype": []}})", "the header has an array within 'a' where"},
      {R"({"a": {"dtype": 1}})", "the header has a number within 'a' where"},
      {R"({"__metadata__": {"x": 1}})",
       "the header has a number within '__metadata__' where none can be"},
      {R"({"__metadata__": {"x": []}})",
       "the header has an array within '__metadata__' where none can be"},
      {"{\"a\": {" + fields + R"(, "shape": [1], "data_offsets": [0, 1]}})",
       "tensor 'a': it has two data_offsets"},
      {"{\"a\": {" + fields + R"(, "shape": [], "shape": []}})",
       "tensor 'a': it has two shape"},
  };
  for (const auto& item : cases) {
    const std::string message = header_refusal(item.json, 1);
    EXPECT_NE(message.find(item.message), std::string::npos)
        << item.json << ": " << message;
  }
  EXPECT_EQ(header_refusal("{\"a\": {" + fields + R"(, "shape": [1]}})", 1),
            "");
}

TEST(SafetensorsLimits, NamesInAnIndexAreLimited) {
  const auto named = [](size_t bytes) {
    return index_refusal("{\"weight_map\": {\"" + std::string(bytes, 'n') +
                         "\": \"1\"}}");
  };
  EXPECT_EQ(named(512), "open 1");
  EXPECT_NE(named(513).find("index: the name of tensor 'nnnnnnnn"),
            std::string::npos);
  EXPECT_NE(named(513).find("has 513 bytes; at most 512 are possible"),
            std::string::npos);
  // The object around them is one, too.
  const auto nested = [](size_t depth) {
    return index_refusal("{\"x\": " + std::string(depth - 1, '[') +
                         std::string(depth - 1, ']') +
                         ", \"weight_map\": {\"a\": \"1\"}}");
  };
  EXPECT_EQ(nested(16), "open 1");
  EXPECT_EQ(nested(17), "index: values nest deeper than 16");
  EXPECT_EQ(index_refusal(R"({"weight_map": {}, "weight_map": {}})"),
            "index: it has two weight_map");
  EXPECT_EQ(index_refusal(R"({"weight_map": {}, "x": {"weight_map": {}}})"),
            "");
  for (const char* value : {"null", "true", "1", "-1", "0.5", "{}", "[]"}) {
    EXPECT_EQ(index_refusal(cat(R"({"weight_map": {"a": )", value, "}}")),
              "index: tensor 'a' is in no file by name");
  }
  for (const char* value : {"null", "true", "1", "-1", "0.5", "[]"}) {
    EXPECT_EQ(index_refusal(value), "index: it is no JSON object");
  }
  EXPECT_EQ(index_refusal(R"({"weight_map": ["1"]})"),
            "index: it has no weight_map");
}

TEST(SafetensorsLimits, NumbersOfFilesAndTensorsAreLimited) {
  const auto files = [](size_t count) {
    std::string json = "{\"weight_map\": {\"a\": \"0\"";
    for (size_t i = 1; i < count; ++i) json += cat(",\"", i, "\":\"", i, '"');
    return index_refusal(json + "}}");
  };
  EXPECT_EQ(files(4096), "open 0");
  EXPECT_EQ(files(4097), "index: it names more than 4096 files");
  const auto tensors = [](size_t count) {
    std::string json = "{\"weight_map\": {\"a\": \"0\"";
    for (size_t i = 1; i < count; ++i) json += cat(",\"", i, "\":\"0\"");
    return index_refusal(json + "}}");
  };
  EXPECT_EQ(tensors(1 << 20), "open 0");
  EXPECT_EQ(tensors((1 << 20) + 1),
            "index: it names more than 1048576 tensors");
  const auto of_header = [](size_t count) {
    const char* none = R"({"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
    std::string json = cat("{\"a\":", none);
    for (size_t i = 1; i < count; ++i) json += cat(",\"", i, "\":", none);
    return header_refusal(json + "}", 0);
  };
  EXPECT_EQ(of_header(1 << 20), "");
  EXPECT_EQ(of_header((1 << 20) + 1), "file: it has more than 1048576 tensors");
}

}  // namespace
}  // namespace rc::safetensors
