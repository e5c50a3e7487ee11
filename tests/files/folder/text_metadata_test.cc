// Tokenizer and templates of a folder.
#include "files/folder/folder_util.h"
#include "text/tokenizer.h"

namespace rc::folder {
namespace {

using test::FolderTest;

TEST_F(FolderTest, TokenizerJsonIsKeptUnchanged) {
  copy("qwen2");
  const std::string text = R"({"version": "1.0", "model": {"type": "BPE"}})";
  write("tokenizer.json", text);
  EXPECT_EQ(open()->get_string("tokenizer.huggingface.json"), text);
  write("tokenizer.json", "\xC3(");
  expect_refused(RC_E_FORMAT, "tokenizer.json: it is no UTF-8");
}

TEST_F(FolderTest, SpecialTokensComeFromTheFirstFileThatHasThem) {
  copy("qwen2");
  const auto id = [&](const char* token) {
    return open()
        ->find_int(cat("tokenizer.ggml.", token, "_token_id"))
        .value_or(-1);
  };
  write("generation_config.json", R"({"eos_token_id": [7, 8, 9, 10]})");
  EXPECT_EQ(id("bos"), 1);
  EXPECT_EQ(id("eos"), 7);
  EXPECT_EQ(id("eot"), 8);
  EXPECT_EQ(id("eom"), 9);
  EXPECT_EQ(open()->find_ints("tokenizer.ggml.eos_token_ids"),
            (std::vector<int64_t>{7, 8, 9, 10}));
  std::filesystem::remove(path("generation_config.json"));
  EXPECT_EQ(id("eos"), 2);
  EXPECT_EQ(open()->find("tokenizer.ggml.eos_token_ids"), nullptr);
  EXPECT_EQ(id("eot"), -1);
  // Numbers of texts.
  change("config.json", R"({"bos_token_id": null, "eos_token_id": null})");
  write("tokenizer_config.json",
        R"({"add_bos_token": true, "add_eos_token": false,
            "bos_token": {"content": "<s>", "lstrip": false},
            "eos_token": "</s>", "pad_token": null, "unk_token": "<unk>",
            "added_tokens_decoder": {"3": {"content": "<s>"},
                                     "5": {"content": "</s>"}}})");
  EXPECT_EQ(id("bos"), 3);
  EXPECT_EQ(id("eos"), 5);
  EXPECT_EQ(id("unknown"), -1);
  EXPECT_EQ(open()->find_bool("tokenizer.ggml.add_bos_token"), true);
  EXPECT_EQ(open()->find_bool("tokenizer.ggml.add_eos_token"), false);
  write("tokenizer_config.json",
        R"({"bos_token": "<s>",
            "added_tokens_decoder": {"3x": {"content": "<s>"}}})");
  expect_refused(RC_E_FORMAT, "'added_tokens_decoder' is -1");
}

TEST_F(FolderTest, EveryEosIdOfAListEndsAText) {
  copy("qwen2");
  write("tokenizer.json",
        R"({"model": {"type": "BPE", "merges": [],
                      "vocab": {"a": 0, "b": 1, "c": 2, "d": 3, "e": 4,
                                "f": 5, "g": 6, "h": 7}}})");
  write("generation_config.json", R"({"eos_token_id": [7, -1, 5, 4, 2, 6]})");
  const auto tokenizer = text::Tokenizer::load(*open());
  std::vector<int32_t> ends;
  for (int32_t id = 0; id < tokenizer->size(); ++id) {
    if (tokenizer->is_end(id)) ends.push_back(id);
  }
  EXPECT_EQ(ends, (std::vector<int32_t>{2, 4, 5, 6, 7}));
  // The message names the list, not the key that its second id is written as.
  write("generation_config.json", R"({"eos_token_id": [7, 8, 2]})");
  expect_refused(
      RC_E_FORMAT,
      "tokenizer.ggml.eos_token_ids[1] is 8, but there are 8 tokens");
  write("generation_config.json", R"({"eos_token_id": [7, -2]})");
  expect_refused(RC_E_FORMAT, "'eos_token_id' is -2");
}

TEST_F(FolderTest, SuppressedTokensComeFromTheGenerationConfig) {
  copy("qwen2");
  write("generation_config.json", R"({"suppress_tokens": [9, 3, -1]})");
  EXPECT_EQ(open()->find_ints("tokenizer.ggml.suppress_tokens"),
            (std::vector<int64_t>{9, 3}));
  for (const char* none : {"null", "[]", "[-1]"}) {
    write("generation_config.json", cat(R"({"suppress_tokens": )", none, "}"));
    EXPECT_EQ(open()->find("tokenizer.ggml.suppress_tokens"), nullptr) << none;
  }
  write("generation_config.json", R"({"suppress_tokens": [-2]})");
  expect_refused(RC_E_FORMAT, "'suppress_tokens' is -2");
}

TEST_F(FolderTest, TemplatesComeFromEitherFile) {
  copy("qwen2");
  const auto text = [&](const char* key) {
    return std::string(open()->find_string(key).value_or("none"));
  };
  EXPECT_EQ(text("tokenizer.chat_template"), "none");
  write("tokenizer_config.json", R"({"chat_template": "one"})");
  EXPECT_EQ(text("tokenizer.chat_template"), "one");
  write("chat_template.jinja", "two");
  EXPECT_EQ(text("tokenizer.chat_template"), "two");
  std::filesystem::remove(path("chat_template.jinja"));
  write("tokenizer_config.json",
        R"({"chat_template": [{"name": "default", "template": "three"},
                              {"name": "tool_use", "template": "four"}]})");
  EXPECT_EQ(text("tokenizer.chat_template"), "three");
  EXPECT_EQ(text("tokenizer.chat_template.tool_use"), "four");
  EXPECT_EQ(open()->find_strings("tokenizer.chat_templates"),
            std::vector<std::string_view>{"tool_use"});
  std::filesystem::create_directory(path("additional_chat_templates"));
  write("additional_chat_templates/rag.jinja", "five");
  write("additional_chat_templates/tool_use.jinja", "six");
  write("additional_chat_templates/other.txt", "seven");
  EXPECT_EQ(text("tokenizer.chat_template.rag"), "five");
  EXPECT_EQ(text("tokenizer.chat_template.tool_use"), "six");
  EXPECT_EQ(open()->find_strings("tokenizer.chat_templates"),
            (std::vector<std::string_view>{"rag", "tool_use"}));
  std::filesystem::create_symlink("/etc/passwd",
                                  path("additional_chat_templates/bad.jinja"));
  expect_refused(RC_E_FORMAT, "bad.jinja: it is a link out of the folder");
  std::filesystem::remove_all(path("additional_chat_templates"));
  const std::pair<const char*, const char*> wrong[] = {
      {R"(5)", "'chat_template' is a number"},
      {R"([5])", "holds something without name and template"},
      {R"([{"name": "\u0000", "template": "x"}])", "has the name '\\x00'"},
      {R"([{"name": "", "template": "x"}])", "has the name ''"},
  };
  for (const auto& [json, message] : wrong) {
    write("tokenizer_config.json", cat(R"({"chat_template": )", json, "}"));
    expect_refused(RC_E_FORMAT, message);
  }
}

}  // namespace
}  // namespace rc::folder
