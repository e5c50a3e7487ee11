// Reads every file of the collection of malformed files.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "files/gguf/file.h"
#include "test_data.h"

namespace rc::gguf {
namespace {

// "" if the file is accepted, else the message.
std::string refusal(const std::filesystem::path& path) {
  try {
    File::open(path.string());
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_FORMAT) << error.message();
    EXPECT_TRUE(error.message().starts_with(path.string())) << error.message();
    return error.message();
  }
  return "";
}

void expect_verdict(const std::filesystem::path& path, bool accept) {
  const std::string message = refusal(path);
  EXPECT_EQ(message.empty(), accept) << path << ": " << message;
}

TEST(Malformed, HandcraftedFilesAreJudgedAsByTheReferenceReader) {
  const auto folder = rc::test::shared_path("gguf-malformed/handcrafted");
  RC_NEED_SHARED(folder);
  std::ifstream expectations(folder / "expect.jsonl");
  int files = 0;
  for (std::string line; std::getline(expectations, line);) {
    const auto record = nlohmann::json::parse(line);
    bool accept = record["accept"];
    // These describe tensors but end before their data; the reference reader
    // was only asked for the description. Here a tensor that reaches beyond
    // the file is always refused.
    const std::string kind = record["kind"];
    if (kind == "TENSORS_SUCCESS" || kind == "TENSORS_CUSTOM_ALIGN") {
      accept = false;
    }
    // All tensors are whole; a byte of padding after the last one is missing.
    // The format asks for padding before data only, and the reference reader
    // doesn't miss it either when it maps a model.
    if (kind == "DATA_NOT_ENOUGH_DATA") accept = true;
    expect_verdict(folder / record["file"].get<std::string>(), accept);
    ++files;
  }
  EXPECT_GT(files, 50);
}

TEST(Malformed, CraftedFilesAreRefused) {
  const auto folder = rc::test::shared_path("gguf-malformed/crafted");
  RC_NEED_SHARED(folder);
  // Where the verdict differs from the other reader's, and why.
  const std::map<std::string, bool> differences = {
      // The format allows keys of at most 65535 bytes.
      {"key_len_65536.gguf", false},
      // A tensor has 1 to 4 dimensions; a scalar is one of shape [1].
      {"tensor_n_dims_0.gguf", false},
      // The format allows arrays of arrays.
      {"nested_array_depth_2.gguf", true},
      // The format allows names of 64 bytes.
      {"tensor_name_64.gguf", true},
      // The format asks for aligned data, not for an order of it.
      {"tensors_out_of_order_offsets.gguf", true},
  };
  std::ifstream verdicts(folder / "upstream-verdicts.jsonl");
  std::set<std::string> judged;
  for (std::string line; std::getline(verdicts, line);) {
    const auto record = nlohmann::json::parse(line);
    const std::string file = record["file"];
    const auto difference = differences.find(file);
    expect_verdict(folder / file,
                   difference != differences.end()
                       ? difference->second
                       : record["upstream_with_data"] == "accept");
    judged.insert(file);
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".gguf") continue;
    EXPECT_TRUE(judged.contains(entry.path().filename())) << entry.path();
  }
}

TEST(Malformed, MessagesNameTheFault) {
  const auto folder = rc::test::shared_path("gguf-malformed/crafted");
  RC_NEED_SHARED(folder);
  const std::pair<const char*, const char*> cases[] = {
      {"big_endian_header.gguf", "big-endian"},
      {"ggml_magic_lmgg.gguf", "'lmgg'"},
      {"alignment_3.gguf", "3 is not a power of two"},
      {"alignment_wrong_type_u64.gguf", "type u64, not u32"},
      {"duplicate_key.gguf", "key 'x' occurs twice"},
      {"tensors_duplicate_name.gguf", "tensor 'a' occurs twice"},
      {"array_string_count_2p40.gguf", "1099511627776 elements"},
      {"tensor_type_31_removed_q4_0_4_4.gguf", "type 31"},
      {"tensor_q4_k_row_128.gguf", "128"},
      {"tensor_data_truncated.gguf", "truncated"},
      {"n_tensors_2p62.gguf", "4611686018427387904"},
      {"key_empty.gguf", "key is empty"},
  };
  for (const auto& [file, text] : cases) {
    const std::string message = refusal(folder / file);
    EXPECT_NE(message.find(text), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace rc::gguf
