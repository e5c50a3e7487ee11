// Every option of every command, as --help lists them.
#include <set>

#include "cli/help_reader.h"
#include "temporary.h"

namespace rc::test {
namespace {

// Texts of other libraries, and names that only C has.
void expect_own_words(const std::string& text) {
  for (const char* foreign :
       {"RC_", "rc_", "options->", "json.exception", "parse_error",
        "Could not convert", "ValidationError", "ConversionError", "not in {",
        "requires at least", "INVALID", "Run with --help", "were not expected",
        "excludes", "std::"}) {
    EXPECT_EQ(text.find(foreign), std::string::npos) << foreign << ": " << text;
  }
}

// Returns the error of the command for these words.
std::string complaint(std::vector<std::string> words) {
  const Outcome outcome = run(words);
  EXPECT_NE(outcome.code, 0) << words[0];
  EXPECT_EQ(outcome.out, "") << words[0];
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1)
      << outcome.err;
  expect_own_words(outcome.err);
  return outcome.err;
}

// The words of a command line where `option` has `value`: with the arguments
// that the command needs, and the option that this one needs.
std::vector<std::string> words_for(const std::string& command,
                                   const HelpOption& option,
                                   const std::string& value) {
  std::vector<std::string> words = {command};
  bool has_model = true;
  for (const HelpOption& each : help_options(command)) {
    const std::string name = each.name();
    const bool needed =
        option.meaning.rfind("with " + name + ":", 0) == 0 ||
        (name == "--chat" && option.name().rfind("--template", 0) == 0) ||
        (name == "--chat" && option.name() == "--now") ||
        (name == "--chat" && option.name() == "--thinking");
    if (!needed || name == option.name()) continue;
    // This one is in the place of a model.
    has_model = has_model && name != "--estimate";
    words.push_back(name);
    if (!each.type.empty()) words.emplace_back("{}");
  }
  if (has_model) {
    const std::vector<std::string> arguments = needed_arguments(command);
    words.insert(words.end(), arguments.begin(), arguments.end());
  }
  if (command == "importance") words.insert(words.end(), {"-o", "/no/such/i"});
  if (command == "template") {
    words.insert(words.end(), {"--messages", "/no/such/m"});
  }
  words.push_back(option.name());
  words.push_back(value);
  return words;
}

TEST(CommandOptions, HelpIsEightyColumnsWideAndInGroups) {
  std::vector<std::vector<std::string>> helps = {
      {"--help"}, {"help", "types"}, {"help", "exit-codes"}};
  for (const std::string& command : command_words()) {
    helps.push_back({command, "--help"});
  }
  for (const auto& words : helps) {
    std::istringstream lines(run(words).out);
    size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
      EXPECT_LE(line.size(), 80u) << line;
      // The lists of types are a topic by themselves.
      if (words.back() != "types") {
        EXPECT_EQ(line.find("IQ4_NL"), std::string::npos) << line;
      }
    }
    EXPECT_GT(count, 4u) << words[0];
  }
  const std::string help = run({"run", "--help"}).out;
  for (const char* group : {"\nArguments:\n", "\nText:\n", "\nConversation:\n",
                            "\nSampling:\n", "\nDevice:\n", "\nLoading:\n"}) {
    EXPECT_NE(help.find(group), std::string::npos) << group;
  }
  const std::string types = run({"help", "types"}).out;
  for (const char* type : {"Q4_K_M", "IQ4_NL", "BF16", "TQ1_0"}) {
    EXPECT_NE(types.find(type), std::string::npos) << type;
  }
  EXPECT_EQ(run({"quantize", "--help", "types"}).out, types);
  EXPECT_EQ(run({"--help", "types"}).out, types);
}

// The names of the C API, with those of earlier versions behind them.
TEST(CommandOptions, HaveTheNamesOfTheCApi) {
  const std::vector<std::vector<std::string>> names = {
      {"run", "-n", "--max-tokens", "--tokens"},
      {"run", "--temperature", "--temp"},
      {"run", "-c", "--context-length", "--context"},
      {"run", "--max-rows", "--batch-size", "--rows"},
      {"run", "--cache-dtype", "--cache-type"},
      {"run", "--dynamic-temperature-range", "--dynamic-temp-range"},
      {"chat", "--template-name", "--template"},
      {"chat", "--template-arguments", "--arguments"},
      {"template", "--now", "--date"},
      {"rerank", "--raw-scores", "--raw"},
      {"quantize", "--tensors", "--tensor"},
      {"tokenize", "-p", "--text", "--prompt"},
      {"bench", "-n", "--max-tokens", "--tokens"}};
  for (std::vector<std::string> wanted : names) {
    const std::string command = wanted.front();
    wanted.erase(wanted.begin());
    bool found = false;
    for (const HelpOption& option : help_options(command)) {
      found = found || option.names == wanted;
    }
    EXPECT_TRUE(found) << command << " " << wanted[1];
  }
}

TEST(CommandOptions, UnknownOptionErrorNamesTheNearest) {
  std::set<std::string> seen;
  for (const std::string& command : command_words()) {
    for (const HelpOption& option : help_options(command)) {
      const std::string name = option.name();
      if (name.size() < 7 || name[0] != '-') continue;
      if (!seen.insert(name).second) continue;
      std::string wrong = name;
      std::swap(wrong[wrong.size() - 2], wrong[wrong.size() - 3]);
      if (wrong == name) wrong.erase(wrong.size() - 3, 1);
      const std::string said = complaint({command, wrong});
      EXPECT_NE(
          said.find("unknown option " + wrong + " of runcible " + command),
          std::string::npos)
          << said;
      EXPECT_NE(said.find("did you mean " + name + "?"), std::string::npos)
          << said;
    }
    // One that is near to nothing.
    const std::string said = complaint({command, "--qqqq=1"});
    EXPECT_NE(said.find("--qqqq"), std::string::npos) << said;
    EXPECT_NE(said.find("runcible " + command + " --help"), std::string::npos)
        << said;
  }
  EXPECT_GT(seen.size(), 60u);
  // An alias is answered with the name itself.
  EXPECT_NE(
      complaint({"run", "--tepm", "1"}).find("did you mean --temperature?"),
      std::string::npos);
  // Several in the order in which they come, whatever else is wrong.
  const std::string several = complaint(
      {"run", "--zeta", "-n", "many", "--temprature", "1", "--alpha", "-q"});
  const size_t zeta = several.find("--zeta, "),
               alpha = several.find("--alpha, -q");
  EXPECT_LT(zeta, several.find("--temprature (did you mean --temperature?)"));
  EXPECT_LT(several.find("--temprature"), alpha);
  EXPECT_NE(alpha, std::string::npos) << several;
  // One of another command.
  EXPECT_NE(complaint({"chat", "--echo"}).find("it is one of runcible run"),
            std::string::npos);
}

TEST(CommandOptions, InvalidNumberErrorNamesOptionAndValue) {
  std::set<std::string> seen;
  for (const std::string& command : command_words()) {
    for (const HelpOption& option : help_options(command)) {
      if (option.type.rfind("NUMBER", 0) != 0) continue;
      if (!seen.insert(option.name()).second) continue;
      for (const char* value :
           {"nonsense", "1x", "", "99999999999999999999999"}) {
        const std::string said = complaint(words_for(command, option, value));
        // Sizes of numbers of all kinds have a limit, but those of floats.
        if (*value == '9' && said.find("is not a number") == said.npos) {
          EXPECT_NE(said.find("/no/such"), std::string::npos) << said;
          continue;
        }
        EXPECT_NE(said.find(option.name() + ": " + value + " is not a number"),
                  std::string::npos)
            << said;
      }
      const std::string bare = complaint({command, option.name()});
      EXPECT_NE(bare.find(option.name() + " needs a value: NUMBER"),
                std::string::npos)
          << bare;
    }
  }
  EXPECT_GT(seen.size(), 30u);
}

TEST(CommandOptions, InvalidChoiceErrorListsTheChoices) {
  std::set<std::string> seen;
  for (const std::string& command : command_words()) {
    for (const HelpOption& option : help_options(command)) {
      const bool choice = option.type.find('|') != std::string::npos;
      const bool type = option.type == "TYPE";
      const bool size = option.type == "SIZE";
      if (option.is_argument() || !(choice || type || size)) continue;
      if (!seen.insert(option.name()).second) continue;
      const std::string said =
          complaint(words_for(command, option, "nonsense"));
      EXPECT_NE(said.find(option.name() + ": nonsense is not "),
                std::string::npos)
          << said;
      if (type) {
        EXPECT_NE(said.find("runcible help types"), std::string::npos) << said;
        const std::string near = complaint(words_for(command, option, "Q4_KM"));
        EXPECT_NE(near.find("did you mean Q4_K_M?"), std::string::npos) << near;
      }
      if (!choice) continue;
      // Every word that is listed, and a mistyped one of them.
      std::istringstream list(option.type);
      for (std::string word; std::getline(list, word, '|');) {
        EXPECT_NE(said.find(word), std::string::npos) << said;
        if (word.size() < 4) continue;
        std::string wrong = word;
        std::swap(wrong[1], wrong[2]);
        const std::string near = complaint(words_for(command, option, wrong));
        EXPECT_NE(near.find("did you mean " + word + "?"), std::string::npos)
            << near;
      }
    }
  }
  EXPECT_GE(seen.size(), 8u);
}

TEST(CommandOptions, OtherInvalidValuesAreNamed) {
  const auto expect = [](const std::vector<std::string>& words,
                         const std::string& text) {
    const std::string said = complaint(words);
    EXPECT_NE(said.find(text), std::string::npos) << said;
  };
  expect({"rnu"}, "there is no command \"rnu\"; did you mean run?");
  expect({"RUN"}, "did you mean run?");
  expect({"--verison"}, "did you mean --version?");
  expect({"help", "tpyes"}, "did you mean types?");
  expect({model()}, "runcible run " + model());
  expect({"run", "--json=1"}, "--json takes no value");
  expect({"run", "-p", "a", "-p", "b"}, "--prompt is given more than once");
  expect({"run", "-p", "Once", "upon", "a"}, "unexpected argument \"a\"");
  expect({"run", "--regex", "a", "--choices", "b"},
         "--regex and --choices cannot be given together");
  expect({"run", "--system", "x"}, "--system works with --chat only");
  expect({"convert", model()}, "no OUTPUT is given");
  expect({"quantize", model(), "/tmp/out"}, "no TYPE is given");
  expect({"run", model(), "--backend", "refernce"}, "did you mean reference?");
  expect({"explain", "refernce"}, "did you mean reference?");
  expect({"models", "remvoe"}, "did you mean remove?");
  expect({"completion", "bsah"}, "did you mean bash?");
}

// Errors of the library, which has names of C for the same options.
TEST(CommandOptions, LibraryErrorsUseTheNamesOfTheCommand) {
  const auto expect = [](const std::vector<std::string>& words,
                         const std::string& text) {
    const std::string said = complaint(words);
    EXPECT_NE(said.find(text), std::string::npos) << said;
  };
  expect({"run", model(), "--context-length", "1"}, "--context-length is 1");
  expect({"run", model(), "-p", "a", "--chat"}, "--template-name");
  expect({"run", model(), "--guard-mapped"}, "--keep-mapped");
  expect({"devices", "--forget-quarantine", "quantum"}, "runcible devices");
  expect({"calibrate", "--backend", "quantum"}, "runcible devices");
  expect({"run", source_path("tests/golden/embeddings/bert-mean").string()},
         "runcible embed");
  expect({"run", model(), "--raw-logits", "/no/such/file"}, "/no/such/file");
  expect({"embed", source_path("tests/golden/embeddings/bert-mean").string(),
          "--input", source_path("LICENSE").string(), "--dimensions", "33",
          "--truncate"},
         "--dimensions is 33");
  expect({"pull", "model.gguf"}, "hf:OWNER/NAME");
  expect({"run", "hf:no/such"}, "runcible pull");
  const TemporaryFolder folder;
  const auto broken = folder.path() / "model-00001-of-00004.safetensors";
  std::filesystem::copy(source_path("tests/golden/folders/llama"),
                        folder.path(),
                        std::filesystem::copy_options::recursive);
  FILE* file = std::fopen(broken.c_str(), "wb");
  std::fwrite("\5\0\0\0\0\0\0\0{\"a\"}", 1, 13, file);
  std::fclose(file);
  expect({"inspect", folder.path().string()}, "no JSON at byte");
}

}  // namespace
}  // namespace rc::test
