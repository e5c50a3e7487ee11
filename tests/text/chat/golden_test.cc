// Comparison with Jinja on the templates in tests/golden/chat.
#include <algorithm>
#include <vector>

#include "text/chat/chat_util.h"

namespace rc::text::chat {
namespace {

std::filesystem::path golden(const std::string& name) {
  return test::source_path("tests/golden/chat/" + name);
}

TEST(ChatCases, MatchJinja) {
  const auto recorded = read_json(golden("cases.json"));
  const Value variables = from_json(recorded["variables"], Origin::kContent);
  size_t errors = 0;
  for (const auto& one : recorded["cases"]) {
    const std::string source = one[0];
    std::string text;
    bool failed = false;
    try {
      text = Template::parse(source).render(variables, recorded_time()).text;
    } catch (const Error& error) {
      failed = true;
      text = error.message();
      EXPECT_NE(text.find("line "), std::string::npos) << text;
      EXPECT_NE(text.find("column "), std::string::npos) << text;
    }
    EXPECT_EQ(failed, one[1].is_null()) << source << " gives " << text;
    if (!failed && one[1].is_string()) {
      EXPECT_EQ(text, one[1].get<std::string>()) << source;
    }
    errors += failed ? 1 : 0;
  }
  EXPECT_GT(recorded["cases"].size(), 3000u);
  EXPECT_GT(errors, 1000u);
}

// Where things come from changes nothing but the marks.
TEST(ChatCases, DoNotDependOnOrigins) {
  const auto recorded = read_json(golden("cases.json"));
  const Value trusted = from_json(recorded["variables"], Origin::kTemplate);
  for (const auto& one : recorded["cases"]) {
    if (!one[1].is_string()) continue;
    const std::string source = one[0];
    const Rendered rendered =
        Template::parse(source).render(trusted, recorded_time());
    EXPECT_EQ(rendered.text, one[1].get<std::string>()) << source;
    EXPECT_TRUE(rendered.content.empty()) << source;
  }
}

TEST(ChatConversations, MatchJinja) {
  const auto recorded = read_json(golden("conversations.json"));
  EXPECT_EQ(recorded["templates"].size(), 12u);
  for (const auto& [name, results] : recorded["templates"].items()) {
    const Template chat =
        Template::parse(read_text(golden("templates/" + name + ".jinja")));
    size_t rendered_count = 0;
    for (size_t i = 0; i < results.size(); ++i) {
      const Value variables =
          from_json(recorded["variables"][i], Origin::kContent);
      if (results[i].is_null()) {
        EXPECT_THROW(chat.render(variables, recorded_time()), Error)
            << name << " " << i;
        continue;
      }
      ++rendered_count;
      const Rendered rendered = chat.render(variables, recorded_time());
      EXPECT_EQ(rendered.text, results[i]["text"].get<std::string>())
          << name << " " << i;
      std::vector<Span> generation;
      for (const auto& span : results[i]["generation"]) {
        generation.push_back({span[0], span[1]});
      }
      EXPECT_EQ(rendered.generation, generation) << name << " " << i;
    }
    EXPECT_GT(rendered_count, 0u) << name;
  }
}

TEST(PublishedTemplates, MatchJinja) {
  const auto folder = test::shared_path("chat/templates");
  RC_NEED_SHARED(folder);
  const auto published = read_json(golden("published.json"));
  const auto given = read_json(golden("conversations.json"))["variables"];
  for (const auto& [name, results] : published.items()) {
    const std::string source = read_text(folder / name);
    const Template chat = Template::parse(source);
    for (size_t i = 0; i < results.size(); ++i) {
      const Value variables = from_json(given[i], Origin::kContent);
      if (results[i].is_null()) {
        if (changes_lists(source)) continue;
        EXPECT_THROW(chat.render(variables, recorded_time()), Error)
            << name << " " << i;
        continue;
      }
      const Rendered rendered = chat.render(variables, recorded_time());
      EXPECT_EQ(rendered.text.size(), results[i][0].get<size_t>())
          << name << " " << i;
      EXPECT_EQ(crc32(rendered.text), results[i][1].get<uint32_t>())
          << name << " " << i;
    }
  }
}

// The cases come with llama.cpp's answers; where Jinja answers otherwise, that
// counts.
TEST(PublishedCases, JinjaCasesMatch) {
  const auto file = test::shared_path("chat/jinja-cases.json");
  RC_NEED_SHARED(file);
  // The sandbox that transformers uses lets nothing be changed in place.
  const std::vector<std::string> refused = {"array.pop() last",
                                            "array.append()"};
  for (const auto& one : read_json(file)) {
    const std::string name = one["name"];
    const std::string text = text_of(one["template"], one["vars"]);
    if (std::count(refused.begin(), refused.end(), name) > 0) {
      EXPECT_TRUE(is_error(text)) << name;
    } else {
      EXPECT_EQ(text, one["expect"].get<std::string>()) << name;
    }
  }
}

TEST(PublishedCases, ChatTemplateCasesMatch) {
  const auto file = test::shared_path("chat/chat-template-cases.json");
  RC_NEED_SHARED(file);
  const auto all = read_json(file);
  // llama.cpp moves the system message into the first one of the user where a
  // template has no place for it, or adds tools; Jinja and we render what there
  // is.
  const std::vector<std::string> refused = {
      "mistralai/Mistral-7B-Instruct-v0.2 (NOTE: Old pre-v1 without a system "
      "prompt)",
      "google/gemma-7b-it", "ai-sage/GigaChat-20B-A3B-instruct"};
  const std::vector<std::string> without_system = {
      "OrionStarAI/Orion-14B-Chat", "Phi-3-mini", "Phi-3-medium",
      "yandex/YandexGPT-5-Lite-8B-instruct"};
  for (const auto& one : all["cases"]) {
    const std::string name = one["name"];
    auto messages = all["conversation"];
    for (const auto& message : one["extra_conversation"]) {
      messages.push_back(message);
    }
    const std::string text =
        text_of(one["template"], {{"messages", messages},
                                  {"bos_token", one["bos_token"]},
                                  {"eos_token", one["eos_token"]},
                                  {"add_generation_prompt", true}});
    if (std::count(refused.begin(), refused.end(), name) > 0) {
      EXPECT_TRUE(is_error(text)) << name;
      continue;
    }
    std::string expected = one["expected_jinja"];
    if (std::count(without_system.begin(), without_system.end(), name) > 0) {
      const std::string merged = "You are a helpful assistant\n";
      expected.erase(expected.find(merged), merged.size());
    }
    EXPECT_EQ(text, expected) << name;
  }
}

}  // namespace
}  // namespace rc::text::chat
