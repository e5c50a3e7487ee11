// The exit status of texts under a grammar that were cut.
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "temporary.h"

namespace rc::test {
namespace {

using Json = nlohmann::json;

TEST(Command, TextsThatAreCutUnderAGrammarHaveASeparateStatus) {
  constexpr int kCut = 11;
  const auto outcome_of = [](const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"run",   model(),  "-p",
                                          "hello", "--temp", "0"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run(arguments);
  };
  const TemporaryFolder folder;
  const std::string schema = (folder.path() / "long.json").string();
  std::ofstream(schema) << R"({"type": "string", "minLength": 500})";
  // By its number of tokens, also where the grammar lets the text end.
  for (const std::vector<std::string>& grammar :
       std::vector<std::vector<std::string>>{
           {"--schema", schema},
           {"--regex", "x{400}"},
           {"--regex", "[0-9]*x{0,400}"},
           {"--choices",
            std::string(300, 'a') + "," + std::string(400, 'b')}}) {
    std::vector<std::string> options = grammar;
    options.insert(options.end(), {"-n", "1"});
    const Outcome cut = outcome_of(options);
    EXPECT_EQ(cut.code, kCut) << grammar[0] << ": " << cut.err;
    EXPECT_NE(cut.out, "") << grammar[0];
    EXPECT_NE(cut.err.find("--max-tokens"), std::string::npos) << cut.err;
    options.insert(options.end(), {"--echo", "--json"});
    const Outcome json = outcome_of(options);
    EXPECT_EQ(json.code, kCut) << grammar[0] << ": " << json.err;
    EXPECT_EQ(Json::parse(json.out)["reason"], "length");
  }
  // By the context, and by a deadline.
  Outcome cut = outcome_of({"--schema", schema, "-n", "-1", "--context", "16"});
  EXPECT_EQ(cut.code, kCut) << cut.err;
  EXPECT_NE(cut.err.find("--context"), std::string::npos) << cut.err;
  setenv("RUNCIBLE_GENERATE_DEADLINE_MS", "1", 1);
  cut = outcome_of({"--regex", "x{100000}", "-n", "-1"});
  unsetenv("RUNCIBLE_GENERATE_DEADLINE_MS");
  EXPECT_EQ(cut.code, kCut) << cut.err;
  EXPECT_NE(cut.err.find("deadline"), std::string::npos) << cut.err;
  // A whole text of as many tokens as are allowed is not cut.
  const Json whole =
      Json::parse(outcome_of({"--regex", "hello", "-n", "100", "--json"}).out);
  const std::string count = std::to_string(whole["tokens"].size());
  for (const char* echo : {"--json", "--echo"}) {
    const Outcome exact = outcome_of({"--regex", "hello", "-n", count, echo});
    EXPECT_EQ(exact.code, 0) << exact.err;
  }
  // Without a grammar the text is not incomplete either.
  EXPECT_EQ(outcome_of({"-n", "1"}).code, 0);
}

}  // namespace
}  // namespace rc::test
