// Tokenizers that know the special names of a template.
#pragma once

#include <algorithm>
#include <memory>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "text/chat/chat_template.h"
#include "text/chat/chat_util.h"

namespace rc::text::chat {

using Json = nlohmann::ordered_json;

// The small vocabulary of tests/golden/chat/tokens.json with these names as
// control tokens, <s> and </s> being the ends of text and <unk> the unknown
// one.
inline std::shared_ptr<const Tokenizer> tokenizer_with(
    const std::vector<std::string>& names,
    const std::vector<std::string>& user_defined = {}) {
  static const Json recorded =
      read_json(test::source_path("tests/golden/chat/tokens.json"));
  Vocabulary v;
  v.source = "test.gguf";
  v.model = "gpt2";
  v.pre = "gpt-2";
  v.tokens = recorded["pieces"].get<std::vector<std::string>>();
  v.merges = recorded["merges"].get<std::vector<std::string>>();
  v.types.assign(v.tokens.size(), TokenType::kNormal);
  const auto add = [&](const std::string& name, TokenType type) {
    const auto id = static_cast<TokenId>(v.tokens.size());
    if (name == "<s>") v.bos = id;
    if (name == "</s>") v.eos = id;
    if (name == "<unk>") v.unknown = id;
    v.tokens.push_back(name);
    v.types.push_back(type);
  };
  for (const std::string& name : names) add(name, TokenType::kControl);
  for (const std::string& name : user_defined) {
    add(name, TokenType::kUserDefined);
  }
  return Tokenizer::create(std::move(v));
}

inline Prompt render(const ChatTemplate& chat, const Json& messages,
                     const Json* tools, const PromptOptions& options) {
  const JsonValue tool_list = tools != nullptr ? tree_of(*tools) : JsonValue();
  return chat.render(tree_of(messages), tools != nullptr ? &tool_list : nullptr,
                     options);
}

// Returns the names of special tokens in a template.
inline std::vector<std::string> names_in(const std::string& source) {
  static const std::regex kName(
      R"(<[|/]?[^<>\s'"{}()%+]{1,40}>|\[/?[A-Z_]{2,20}\])");
  std::vector<std::string> names = {"<s>", "</s>"};
  for (auto at = std::sregex_iterator(source.begin(), source.end(), kName);
       at != std::sregex_iterator(); ++at) {
    const std::string name = at->str();
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  }
  return names;
}

// The control tokens among the tokens.
inline std::vector<TokenId> special_tokens(const Tokenizer& tokenizer,
                                           const std::vector<TokenId>& tokens) {
  std::vector<TokenId> special;
  for (const TokenId id : tokens) {
    const TokenType type = tokenizer.token_type(id);
    if (type == TokenType::kControl || type == TokenType::kUserDefined) {
      special.push_back(id);
    }
  }
  return special;
}

inline std::string text_of_tokens(const Tokenizer& tokenizer,
                                  const std::vector<TokenId>& tokens) {
  return tokenizer.detokenize(tokens, /*special=*/true);
}

// The message of the error that a call throws, "" if it throws none.
template <class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.message();
  }
  return {};
}

}  // namespace rc::text::chat
