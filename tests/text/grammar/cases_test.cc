// Schemas and regular expressions that others judged; see make.py.
#include "text/grammar/grammar_util.h"

namespace rc::text::grammar {
namespace {

const nlohmann::json& cases() {
  static const nlohmann::json kCases =
      read_json(test::source_path("tests/text/grammar/cases.json"));
  return kCases;
}

TEST(GrammarCases, SchemasAcceptValidInstances) {
  for (const auto& given : cases()["schemas"]) {
    const std::string text = given["schema"];
    SCOPED_TRACE(text);
    const auto grammar = schema(text);
    for (const std::string instance : given["valid"]) {
      EXPECT_TRUE(accepts(*grammar, instance)) << instance;
      // However it is written.
      const auto value = nlohmann::ordered_json::parse(instance);
      EXPECT_TRUE(accepts(*grammar, value.dump())) << instance;
      EXPECT_TRUE(accepts(*grammar, value.dump(2))) << instance;
    }
    for (const std::string instance : given["invalid"]) {
      EXPECT_FALSE(accepts(*grammar, instance)) << instance;
    }
  }
}

TEST(GrammarCases, RegularExpressionsMatchLikeOtherEngines) {
  for (const auto& given : cases()["regexes"]) {
    const std::string pattern = given["pattern"];
    SCOPED_TRACE(pattern);
    const auto whole = Grammar::regex(pattern, {}, small_vocabulary());
    const auto search =
        schema(nlohmann::json{{"type", "string"}, {"pattern", pattern}}.dump());
    const auto has = [](const nlohmann::json& list, const std::string& text) {
      return std::find(list.begin(), list.end(), text) != list.end();
    };
    for (const std::string text : given["texts"]) {
      EXPECT_EQ(accepts(*whole, text), has(given["all"], text)) << text;
      EXPECT_EQ(accepts(*search, nlohmann::json(text).dump()),
                has(given["found"], text))
          << text;
    }
  }
}

}  // namespace
}  // namespace rc::text::grammar
