// Help, the manual, and the messages about words that cannot be.
#include <cctype>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "cli/help_reader.h"

namespace rc::test {
namespace {

TEST(CommandHelp, PrintsHelpAndVersion) {
  const Outcome help = run({"--help"});
  EXPECT_EQ(help.code, 0);
  for (const char* word :
       {"run",        "chat",    "devices",   "inspect",    "verify",
        "plan",       "convert", "quantize",  "importance", "evaluate",
        "embed",      "rerank",  "tokenize",  "template",   "bench",
        "explain",    "config",  "calibrate", "pull",       "models",
        "completion", "help",    "exit-codes"}) {
    EXPECT_NE(help.out.find(word), std::string::npos) << word;
  }
  EXPECT_EQ(run({"run", "--help"}).code, 0);
  EXPECT_NE(run({"--version"}).out.find("runcible 0."), std::string::npos);
}

TEST(CommandHelp, HasAnExitCodePerClass) {
  const std::string text = source_path("CMakeLists.txt").string();
  const std::string commands =
      "run, chat, devices, explain, calibrate, pull, models, inspect, verify, "
      "plan, convert, quantize, importance, evaluate, bench, embed, rerank, "
      "tokenize, template, config, completion, help";
  expect_failure(run({}), 2, "the commands are " + commands);
  for (const char* word : {"talk", "", "model.gguf"}) {
    expect_failure(run({word, "--help"}), 2,
                   std::string("there is no command \"") + word +
                       "\"; the commands are " + commands);
  }
  expect_failure(run({"verify"}), 2, "MODEL");
  expect_failure(run({"run", model(), "--temp", "hot"}), 2, "hot");
  expect_failure(run({"run", model(), "--guard-mapped"}), 2, "--keep-mapped");
  expect_failure(run({"run", model(), "--resident-experts", "2"}), 2,
                 "--experts-mapped");
  expect_failure(run({"run", model(), "-n", "-2"}), 2, "-2");
  expect_failure(run({"run", model(), "--threads", "0"}), 2, "threads");
  expect_failure(run({"run", model(), "--prompt-tokens", "1,,2"}), 2, "1,2,3");
  expect_failure(run({"run", model(), "--prompt-tokens", "1,272"}), 2, "272");
  expect_failure(run({"run", "no/such.gguf"}), 3, "no/such.gguf");
  expect_failure(run({"verify", "/"}), 3, "/");
  expect_failure(run({"verify", text}), 4, text);
  expect_failure(run({"inspect", text}), 4, text);
  expect_failure(run({"run", model(), "--backend", "quantum"}), 3, "quantum");
  expect_failure(run({"run", model(), "--backend", "reference:9"}), 6,
                 "reference:9");
  expect_failure(
      run({"run", model(), "--context", "8", "-p", "far too long a text"}), 9,
      "8");
  expect_failure(run_on(-1, {"tokenize", model()}), 2, "--decode");
}

TEST(CommandHelp, HelpDescribesEachCommand) {
  for (const std::string& command : command_words()) {
    const Outcome help = run({"help", command});
    EXPECT_EQ(help.code, 0) << command;
    EXPECT_EQ(help.out, run({command, "--help"}).out) << command;
    EXPECT_NE(help.out.find("Usage: runcible " + command), std::string::npos)
        << help.out;
    // Limits are described in words.
    for (const char* raw :
         {" in [", "9223372036854775807", "INT64", "18446744"}) {
      EXPECT_EQ(help.out.find(raw), std::string::npos) << help.out;
    }
  }
  EXPECT_EQ(run({"help"}).out, run({"--help"}).out);
  expect_failure(run({"help", "talk"}), 2, "run, chat, devices");
  const std::string codes = run({"help", "exit-codes"}).out;
  for (const char* line : {"    0  success\n", "    9  the prompt does not fit",
                           "  141  the output"}) {
    EXPECT_NE(codes.find(line), std::string::npos) << codes;
  }
}

// The manual says no more and no less than --help.
TEST(CommandHelp, HasAManualThatIsUpToDate) {
  std::ifstream file(source_path("src/cli/runcible.1"));
  std::string page(std::istreambuf_iterator<char>(file), {});
  page.erase(std::remove(page.begin(), page.end(), '\\'), page.end());
  const std::string whole = page;
  std::set<std::string> known = {"--version", "-h", "--help"};
  for (const std::string& command : command_words()) {
    EXPECT_NE(page.find("\n.B " + command + "\n"), std::string::npos)
        << command;
    for (const HelpOption& option : help_options(command)) {
      for (const std::string& name : option.names) {
        if (name[0] == '-') known.insert(name);
      }
    }
  }
  EXPECT_GT(known.size(), 40u);
  // Options as the page sets them: at the beginning of a word.
  std::set<std::string> described;
  for (size_t at = page.find('-'); at != std::string::npos;
       at = page.find('-', at + 1)) {
    if (std::isalnum(static_cast<unsigned char>(page[at - 1])) != 0 ||
        page[at - 1] == '-') {
      continue;
    }
    size_t end = at;
    while (end < page.size() &&
           (std::isalpha(static_cast<unsigned char>(page[end])) != 0 ||
            page[end] == '-')) {
      ++end;
    }
    const std::string word = page.substr(at, end - at);
    if (word.size() > 1) described.insert(word);
  }
  EXPECT_EQ(described, known);
  // As many codes, with the same words.
  std::istringstream codes(run({"help", "exit-codes"}).out);
  std::string line;
  std::getline(codes, line);
  size_t count = 0;
  while (std::getline(codes, line)) {
    std::istringstream words(line);
    std::string code, meaning;
    words >> code >> std::ws;
    std::getline(words, meaning);
    EXPECT_NE(page.find("\n.B " + code + "\n" + meaning + "\n"),
              std::string::npos)
        << line;
    ++count;
  }
  EXPECT_EQ(count, 15u);
  // Every variable of the guide.
  std::ifstream guide(source_path("src/base/config/README.md"));
  const std::string text(std::istreambuf_iterator<char>(guide), {});
  size_t variables = 0;
  for (size_t at = text.find("| `RUNCIBLE_"); at != std::string::npos;
       at = text.find("| `RUNCIBLE_", at + 1)) {
    const std::string name =
        text.substr(at + 3, text.find('`', at + 3) - at - 3);
    EXPECT_NE(page.find("\n.B " + name + "\n"), std::string::npos) << name;
    ++variables;
  }
  EXPECT_GE(variables, 7u);
}

// Before the model is loaded, which is not even there, and by the option's own
// name. At the limits themselves the library agrees.
TEST(CommandHelp, OptionsAreCheckedBeforeTheModel) {
  struct Case {
    const char* option;
    std::vector<const char*> bad;
    std::vector<const char*> good;
  };
  const std::vector<Case> cases = {
      {"-n", {"-2", "many", "1.5", ""}, {"-1", "0"}},
      {"--temp", {"-0.1", "nan", "inf", "hot"}, {"0", "1e30"}},
      {"--top-k", {"-1", "3000000000"}, {"0", "2147483647"}},
      {"--top-p", {"0", "3", "nan"}, {"0.001", "1"}},
      {"--min-p", {"-0.1", "1.1"}, {"0", "1"}},
      {"--typical-p", {"0", "1.1"}, {"0.001", "1"}},
      {"--top-n-sigma", {"-0.1", "inf"}, {"0", "2.5"}},
      {"--penalty-tokens", {"-2"}, {"-1", "0"}},
      {"--repetition-penalty", {"0", "-1", "inf"}, {"0.001", "1e30"}},
      {"--presence-penalty", {"nan", "inf"}, {"-1e30", "1e30"}},
      {"--frequency-penalty", {"nan", "-inf"}, {"-1e30", "1e30"}},
      {"--seed", {"-1", "x"}, {"0"}},
      {"--stop", {""}, {"x"}},
      {"--threads", {"0", "1025"}, {"1"}},
      {"--context", {"0", "-1"}, {"16"}},
      {"--rows", {"0", "65537"}, {"1"}},
  };
  for (const Case& each : cases) {
    for (const char* value : each.bad) {
      const Outcome outcome = run({"run", "no/such.gguf", each.option, value});
      // Options with several names are called by the one of C.
      const std::string given = each.option;
      const std::string name = given == "-n"          ? "--max-tokens"
                               : given == "--temp"    ? "--temperature"
                               : given == "--context" ? "--context-length"
                               : given == "--rows"    ? "--max-rows"
                                                      : given;
      expect_failure(outcome, 2, name + ": " + value);
    }
    for (const char* value : each.good) {
      const Outcome outcome = run({"run", model(), "-p", "hello", "--context",
                                   "64", "-n", "1", each.option, value});
      const bool twice = std::string(each.option) == "-n" ||
                         std::string(each.option) == "--context";
      if (!twice) {
        EXPECT_EQ(outcome.code, 0)
            << each.option << " " << value << ": " << outcome.err;
      }
    }
  }
  expect_failure(run({"run", "no/such.gguf", "--prompt-tokens", "1,,2"}), 2,
                 "1,2,3");
  expect_failure(run({"bench", "no/such.gguf", "--prompts", "8,0"}), 2,
                 "--prompts: 0 is not a number from 1");
}

}  // namespace
}  // namespace rc::test
