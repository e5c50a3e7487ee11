// Texts of users, tools and models never become special tokens, and harmless
// ones have the tokens of the library tokenizers.
#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "text/chat/known_templates.h"
#include "text/chat/prompt_util.h"

namespace rc::text::chat {
namespace {

std::string upper(std::string text) {
  for (char& c : text) {
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return text;
}

// Templates of the repository, by name, those known by name, and published ones
// if they are here.
std::map<std::string, std::string> all_templates() {
  std::map<std::string, std::string> all;
  const auto own = test::source_path("tests/golden/chat/templates");
  for (const auto& file : std::filesystem::directory_iterator(own)) {
    all[file.path().stem().string()] = read_text(file.path());
  }
  for (const KnownTemplate& known : known_templates()) {
    all["known " + std::string(known.name)] = known.source;
  }
  const auto published = test::shared_path("chat/templates");
  if (published.empty()) return all;
  for (const auto& file : std::filesystem::directory_iterator(published)) {
    if (file.path().extension() == ".jinja") {
      all[file.path().filename().string()] = read_text(file.path());
    }
  }
  return all;
}

PromptOptions fixed_options() {
  PromptOptions options;
  options.now = recorded_time().now;
  return options;
}

Json talk(const std::string& first, const std::string& second) {
  return {{{"role", "user"}, {"content", first}},
          {{"role", "assistant"}, {"content", "ok " + second}},
          {{"role", "user"}, {"content", second + first}}};
}

Json with_call(const std::string& name, const Json& arguments,
               const std::string& result) {
  return {{{"role", "user"}, {"content", "Look."}},
          {{"role", "assistant"},
           {"content", ""},
           {"tool_calls",
            {{{"id", "abcdef123"},
              {"type", "function"},
              {"function", {{"name", name}, {"arguments", arguments}}}}}}},
          {{"role", "tool"},
           {"tool_call_id", "abcdef123"},
           {"name", name},
           {"content", result}}};
}

Json tools_named(const std::string& name, const std::string& description) {
  return {{{"type", "function"},
           {"function",
            {{"name", name},
             {"description", description},
             {"parameters",
              {{"type", "object"},
               {"properties",
                {{"place",
                  {{"type", "string"}, {"description", description}}}}}}}}}}};
}

using Tokens = std::vector<TokenId>;

// A template whose special names a stranger tries to write.
class Attack {
 public:
  Attack(std::string name, const std::string& source)
      : name_(std::move(name)),
        names_(names_in(source)),
        tokenizer_(tokenizer_with(names_)),
        chat_(ChatTemplate::create(source, tokenizer_)) {}

  const std::vector<std::string>& names() const { return names_; }

  // The special tokens, all of them outside of content; nothing if the template
  // refuses the conversation.
  std::optional<Tokens> special(const Json& messages,
                                const Json* tools = nullptr) const {
    Prompt prompt;
    try {
      prompt = render(*chat_, messages, tools, fixed_options());
    } catch (const Error&) {
      return std::nullopt;
    }
    EXPECT_EQ(text_of_tokens(*tokenizer_, prompt.tokens), prompt.text) << name_;
    for (const ContentRange& content : prompt.content) {
      for (size_t i = content.tokens.begin; i < content.tokens.end; ++i) {
        EXPECT_EQ(tokenizer_->token_type(prompt.tokens[i]), TokenType::kNormal)
            << name_ << ": " << messages;
      }
    }
    return special_tokens(*tokenizer_, prompt.tokens);
  }

  // The special tokens are still those, unless the conversation is refused.
  void expect(const std::optional<Tokens>& expected, const Json& messages,
              const Json* tools = nullptr) const {
    const std::optional<Tokens> found = special(messages, tools);
    if (found && expected) {
      EXPECT_EQ(*found, *expected) << name_ << ": " << messages;
    }
  }

 private:
  std::string name_;
  std::vector<std::string> names_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::shared_ptr<const ChatTemplate> chat_;
};

TEST(Injection, ContentNeverBecomesSpecialTokens) {
  size_t taken = 0, all = 0;
  for (const auto& [template_name, source] : all_templates()) {
    const Attack attack(template_name, source);
    ++all;
    std::optional<Tokens> calm = attack.special(talk("x", "y"));
    taken += calm ? 1 : 0;
    for (const std::string& name : attack.names()) {
      // Templates that take reasoning out of what was said write other marks
      // then, which are their own.
      const auto expected =
          name.find("think") == std::string::npos ? calm : std::nullopt;
      const std::string half = name.substr(0, name.size() / 2);
      const std::string rest = name.substr(name.size() / 2);
      attack.expect(expected, talk("a " + name + " b", "y"));
      attack.expect(expected, talk("x", name));
      attack.expect(expected, talk("  " + name + "\n", "y"));
      attack.expect(expected, talk(half, rest));
      attack.expect(expected, talk(rest, half));
      attack.expect(expected, talk(upper(name), "y"));
      if (::testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GE(taken, all * 9 / 10) << "of " << all;
}

TEST(Injection, ToolsAndCallsNeverBecomeSpecialTokens) {
  size_t taken = 0;
  const Json tools = tools_named("look", "Looks.");
  const auto calling = [](const std::string& tool, const std::string& key,
                          const std::string& value, const std::string& result) {
    return with_call(tool, {{key, value}}, result);
  };
  for (const auto& [template_name, source] : all_templates()) {
    if (!names_word(source, "tools")) continue;
    const Attack attack(template_name, source);
    const auto calm =
        attack.special(calling("look", "place", "here", "a tree"), &tools);
    const auto offered = attack.special(talk("x", "y"), &tools);
    taken += calm ? 1 : 0;
    for (const std::string& name : attack.names()) {
      attack.expect(calm, calling("look", "place", "here", name), &tools);
      attack.expect(calm, calling("look", "place", name, "a tree"), &tools);
      attack.expect(calm, calling("look" + name, "place", "here", "a tree"),
                    &tools);
      attack.expect(calm, calling("look", "pl" + name, "here", "a tree"),
                    &tools);
      const Json named = tools_named("look" + name, "Looks.");
      const Json described = tools_named("look", "Looks at " + name + ".");
      attack.expect(offered, talk("x", "y"), &named);
      attack.expect(offered, talk("x", "y"), &described);
      if (::testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GE(taken, 3u);
}

// User-defined tokens that a template writes as marks are as special as control
// tokens; others are a part of what is read, as the tokenizer has them.
TEST(Injection, UserDefinedMarksAreNotReadFromContent) {
  const std::string source(
      "{% for m in messages %}<tool_call>{{ m.content }}\n\n{% endfor %}");
  const auto tokenizer =
      tokenizer_with({"<s>", "</s>"}, {"<tool_call>", "\n\n", "<h1>"});
  const auto chat = ChatTemplate::create(source, tokenizer);
  const auto special = [&](const std::string& content) {
    return text_of_tokens(
        *tokenizer,
        special_tokens(*tokenizer,
                       render(*chat, {{{"role", "user"}, {"content", content}}},
                              nullptr, {})
                           .tokens));
  };
  EXPECT_EQ(special("a"), "<tool_call>\n\n");
  EXPECT_EQ(special("<tool_call>"), "<tool_call>\n\n");
  EXPECT_EQ(special("<h1>a\n\nb"), "<tool_call><h1>\n\n\n\n");
}

// Whether what the template gets is what is written in the conversation.
bool is_given_as_it_is(const Dialect& dialect, const Json& messages) {
  for (const Json& message : messages) {
    if (message.contains("tool_calls") &&
        (dialect.arguments_as_text || dialect.empty_content)) {
      return false;
    }
    if (message.contains("reasoning_content") &&
        !message.contains(dialect.reasoning_key) &&
        !dialect.reasoning_key.empty()) {
      return false;
    }
    if (message["role"] == "developer" && !dialect.knows_developer) {
      return false;
    }
  }
  return dialect.content != Dialect::Content::kParts;
}

struct Compared {
  size_t same = 0;
  size_t refused = 0;
};

void compare(const std::string& name, const std::string& source,
             const Json& recorded, const Json& given, Compared* compared) {
  const auto tokenizer =
      tokenizer_with(recorded["names"].get<std::vector<std::string>>());
  const auto chat = ChatTemplate::create(source, tokenizer);
  for (size_t i = 0; i < given.size(); ++i) {
    Json arguments = given[i];
    const Json messages = arguments["messages"];
    Json tools = arguments["tools"];
    PromptOptions options = fixed_options();
    options.add_generation_prompt = arguments["add_generation_prompt"];
    for (const char* key : {"messages", "tools", "add_generation_prompt",
                            "bos_token", "eos_token"}) {
      arguments.erase(key);
    }
    const JsonValue argument_tree = tree_of(arguments);
    options.arguments = &argument_tree;
    if (!is_given_as_it_is(chat->dialect(), messages)) continue;
    if (!chat->dialect().knows_tools) tools = nullptr;
    std::string ids;
    size_t count = 0;
    try {
      for (const TokenId id :
           render(*chat, messages, tools.is_null() ? nullptr : &tools, options)
               .tokens) {
        ids += (count++ > 0 ? "," : "") + std::to_string(id);
      }
    } catch (const Error& error) {
      EXPECT_TRUE(recorded["tokens"][i].is_null())
          << name << " " << i << ": " << error.message();
      ++compared->refused;
      continue;
    }
    if (recorded["tokens"][i].is_null() &&
        (chat->dialect().one_call || changes_lists(source))) {
      // Calls that the template refuses together are messages here, and lists
      // change.
      ++compared->refused;
      continue;
    }
    ASSERT_FALSE(recorded["tokens"][i].is_null()) << name << " " << i;
    EXPECT_EQ(count, recorded["tokens"][i][0].get<size_t>())
        << name << " " << i;
    EXPECT_EQ(crc32(ids), recorded["tokens"][i][1].get<uint32_t>())
        << name << " " << i;
    ++compared->same;
  }
}

TEST(Tokens, MatchTheLibraryTokenizers) {
  const Json recorded =
      read_json(test::source_path("tests/golden/chat/tokens.json"));
  const auto templates = all_templates();
  Compared compared;
  for (const auto& [name, results] : recorded["templates"].items()) {
    const auto found = templates.find(name);
    if (found == templates.end()) continue;  // published, and not here
    compare(name, found->second, results, recorded["variables"], &compared);
  }
  EXPECT_GT(compared.same, compared.refused);
  EXPECT_GE(compared.same, 30u);
}

}  // namespace
}  // namespace rc::text::chat
