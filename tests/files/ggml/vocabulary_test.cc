// Tokenizers that get no keys: the log says why. Tokens around a text.
#include "files/ggml/vocabulary.h"

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "files/ggml/describe.h"

namespace rc::ggml {
namespace {

using test::changed;
using test::Json;

const Json& bert_tokenizer() {
  static const Json kTokenizer = Json::parse(R"({
    "normalizer": {"type": "BertNormalizer"},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3],
                       "cls": ["[CLS]", 2]},
    "model": {"type": "WordPiece", "unk_token": "[UNK]",
              "continuing_subword_prefix": "##",
              "vocab": {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3,
                        "a": 4}}})");
  return kTokenizer;
}

std::shared_ptr<const gguf::File> to_file(const gguf::Writer& writer) {
  auto bytes = std::make_shared<std::vector<std::byte>>(writer.write_memory());
  const std::span<const std::byte> view = *bytes;
  return gguf::File::from_memory(std::move(bytes), view, "small.gguf");
}

class GgmlKeys : public testing::Test {
 protected:
  GgmlKeys() {
    set_log(
        [](void* log, rc_log_level, const char* message) {
          *static_cast<std::string*>(log) += message;
        },
        &log_, RC_LOG_WARNING);
  }
  ~GgmlKeys() override { set_log(nullptr, nullptr, RC_LOG_NONE); }

  // With a value for each of these keys before.
  std::shared_ptr<const gguf::File> write(
      const test::Changes& changes,
      const std::vector<std::pair<std::string, uint32_t>>& keys = {}) {
    log_.clear();
    gguf::Writer source;
    source.add("general.architecture", "bert");
    source.add("tokenizer.huggingface.json",
               changed(bert_tokenizer(), changes).dump());
    for (const auto& [key, value] : keys) source.add(key, value);
    const auto file = to_file(source);
    gguf::Writer writer;
    for (const gguf::Entry& entry : file->entries()) writer.add(entry);
    add_ggml_vocabulary(*file, writer);
    return to_file(writer);
  }
  const std::string& log() const { return log_; }

 private:
  std::string log_;
};

TEST_F(GgmlKeys, ReasonOfMissingKeysIsLogged) {
  const struct {
    test::Changes changes;
    const char* reason;
  } cases[] = {
      {{{"/model", ""}}, "it has no model"},
      {{{"/model/type", ""}}, "its model is ''"},
      {{{"/model/type", R"("WordLevel")"}}, "its model is 'WordLevel'"},
      {{{"/model/type", R"("BPE")"}}, "its pairs of bytes have a unk_token"},
      {{{"/model/type", R"("BPE")"}, {"/model/byte_fallback", "true"}},
       "its pairs of characters have a continuing_subword_prefix"},
      {{{"/model/type", R"("Unigram")"}},
       "its normalizer has the step 'BertNormalizer'"},
      {{{"/normalizer", ""}}, "its normalizer is not that of BERT"},
      // A token with the name that a missing id would get.
      {{{"/added_tokens", R"([{"id": 6, "content": "[PAD5]"}])"}},
       "two of its tokens would be '[PAD5]'"},
      {{{"/added_tokens", R"([{"id": 5, "content": "\u2581a"}])"}},
       "two of its tokens would be '"},
  };
  for (const auto& item : cases) {
    const auto file = write(item.changes);
    EXPECT_EQ(file->find("tokenizer.ggml.model"), nullptr) << item.reason;
    EXPECT_NE(log().find("small.gguf: its tokenizer is written as "
                         "tokenizer.huggingface.json alone"),
              std::string::npos)
        << log();
    EXPECT_NE(log().find(item.reason), std::string::npos) << log();
  }
  for (const test::Changes& changes :
       {test::Changes{},
        test::Changes{{"/added_tokens", R"([{"id": 5, "content": "[PAD5]"}])"}},
        test::Changes{{"/added_tokens", R"([{"id": 5, "content": "a"}])"}}}) {
    EXPECT_EQ(write(changes)->get_string("tokenizer.ggml.model"), "bert");
    EXPECT_EQ(log(), "");
  }
}

TEST_F(GgmlKeys, ExistingKeysAreKept) {
  gguf::Writer source;
  source.add("tokenizer.huggingface.json", bert_tokenizer().dump());
  source.add("tokenizer.ggml.model", "gpt2");
  const auto file = to_file(source);
  gguf::Writer writer;
  add_ggml_vocabulary(*file, writer);
  EXPECT_TRUE(to_file(writer)->entries().empty());
  // A description that is no text, or no JSON, is for loading to report.
  for (const bool text : {false, true}) {
    gguf::Writer other;
    if (text) {
      other.add("tokenizer.huggingface.json", "{");
    } else {
      other.add("tokenizer.huggingface.json", uint32_t{1});
    }
    gguf::Writer written;
    add_ggml_vocabulary(*to_file(other), written);
    EXPECT_TRUE(to_file(written)->entries().empty());
  }
  EXPECT_EQ(log(), "");
}

TEST_F(GgmlKeys, ContainTheTokensAroundAText) {
  const char* around = "other tokens in the tokens around a text";
  auto file = write({});
  EXPECT_EQ(file->get_int("tokenizer.ggml.bos_token_id"), 2);
  EXPECT_EQ(file->get_int("tokenizer.ggml.eos_token_id"), 3);
  EXPECT_EQ(file->get_int("tokenizer.ggml.cls_token_id"), 2);
  EXPECT_EQ(file->get_int("tokenizer.ggml.seperator_token_id"), 3);
  EXPECT_EQ(file->find_bool("tokenizer.ggml.add_bos_token"), true);
  EXPECT_EQ(file->find_bool("tokenizer.ggml.add_eos_token"), true);
  EXPECT_EQ(log(), "");
  // Each end on its own.
  for (const char* key : {"bos_token_id", "eos_token_id"}) {
    file = write({}, {{std::string("tokenizer.ggml.") + key, 0}});
    const bool first = key[0] == 'b';
    EXPECT_EQ(file->find_bool("tokenizer.ggml.add_bos_token"), !first);
    EXPECT_EQ(file->find_bool("tokenizer.ggml.add_eos_token"), first);
    EXPECT_NE(log().find(around), std::string::npos) << log();
  }
  // The same as the file has.
  file = write({}, {{"tokenizer.ggml.bos_token_id", 2}});
  EXPECT_EQ(file->find_bool("tokenizer.ggml.add_bos_token"), true);
  EXPECT_EQ(log(), "");
  file = write({{"/post_processor", "null"}});
  EXPECT_EQ(file->find("tokenizer.ggml.bos_token_id"), nullptr);
  EXPECT_EQ(file->find_bool("tokenizer.ggml.add_bos_token"), false);
  EXPECT_EQ(file->find_bool("tokenizer.ggml.add_eos_token"), false);
}

TEST(GgmlDescription, HasTokensOfBoundedIdsAndTexts) {
  constexpr int64_t kIds = int64_t{1} << 22;
  const auto refused = [](int64_t id, size_t bytes) {
    Description description;
    try {
      description.set(id, std::string(bytes, 'x'), TokenType::kNormal);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), RC_E_UNSUPPORTED);
      EXPECT_NE(error.message().find("ids are 0 to 4194303 and texts have 1 to "
                                     "4096 bytes"),
                std::string::npos)
          << error.message();
      return true;
    }
    EXPECT_EQ(description.tokens.size(), static_cast<size_t>(id) + 1);
    EXPECT_EQ(description.tokens.back(), std::string(bytes, 'x'));
    return false;
  };
  EXPECT_TRUE(refused(-1, 1));
  EXPECT_FALSE(refused(0, 1));
  EXPECT_FALSE(refused(kIds - 1, 1));
  EXPECT_TRUE(refused(kIds, 1));
  EXPECT_TRUE(refused(0, 0));
  EXPECT_FALSE(refused(0, 4096));
  EXPECT_TRUE(refused(0, 4097));
}

}  // namespace
}  // namespace rc::ggml
