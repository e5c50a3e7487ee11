// Configuration outside of the command.
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/help_reader.h"
#include "temporary.h"

namespace rc::test {
namespace {

using Json = nlohmann::json;

class CommandConfig : public testing::Test {
 protected:
  void write(const std::string& text) { std::ofstream(path_) << text; }

  static Json report() {
    const Outcome outcome = run({"config", "--json"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return Json::parse(outcome.out);
  }

  static Json setting(const std::string& key) {
    const Json whole = report();
    for (const Json& each : whole.at("settings")) {
      if (each.at("key") == key) return each;
    }
    ADD_FAILURE() << "no " << key;
    return {};
  }

  const TemporaryFolder folder_;
  const std::string path_ = (folder_.path() / "c.toml").string();
  const TemporaryVariable variable_{"RUNCIBLE_CONFIG", path_};
};

TEST_F(CommandConfig, ReportsTheSourceOfEachValue) {
  write("[backend]\nthreads = 3\n\n[generate]\ntemperature = 0.25\n");
  const TemporaryVariable rows("RUNCIBLE_MODEL_MAX_ROWS", "64");
  EXPECT_EQ(run({"config", "--path"}).out, path_ + "\n");
  EXPECT_EQ(setting("backend.threads"),
            Json::parse(R"({"key":"backend.threads","value":3,"toml":"3",
                "source":"file","line":2,"variable":"RUNCIBLE_THREADS",
                "allowed":"an integer from 0 to 1024",
                "meaning":"threads of a CPU device; 0: as many as the process may use"})"));
  EXPECT_EQ(setting("model.max_rows").at("source"), "environment");
  EXPECT_EQ(setting("model.max_rows").at("value"), 64);
  EXPECT_EQ(setting("generate.top_k").at("source"), "initial");
  EXPECT_EQ(setting("generate.top_k").at("value"), 40);
  EXPECT_TRUE(setting("generate.seed").at("value").is_null());

  const std::string changed = run({"config", "--changed"}).out;
  EXPECT_EQ(changed, "# " + path_ +
                         "\n\n[backend]\nthreads = 3                       # " +
                         path_ + ":2\n\n[model]\n" +
                         "max_rows = 64                     # "
                         "$RUNCIBLE_MODEL_MAX_ROWS\n\n[generate]\n" +
                         "temperature = 0.25                # " + path_ +
                         ":5\n");
  const std::string all = run({"config"}).out;
  EXPECT_NE(all.find("top_k = 40"), std::string::npos);
  EXPECT_NE(all.find("# seed "), std::string::npos);
  EXPECT_NE(run({"config", "--meanings"})
                .out.find("backend.threads ($RUNCIBLE_THREADS): an integer"),
            std::string::npos);
}

TEST_F(CommandConfig, PrintsAnEquivalentFile) {
  write("[model]\ncache_dtype = \"q8_0\"\n");
  const std::string printed = run({"config"}).out;
  write(printed);
  const Json whole = report();
  for (const Json& each : whole.at("settings")) {
    EXPECT_EQ(each.at("source"),
              each.at("value").is_null() ? "initial" : "file");
  }
  EXPECT_EQ(setting("model.cache_dtype").at("value"), "q8_0");
}

TEST_F(CommandConfig, EveryCommandRefusesABadFile) {
  write("[backend]\nthreads = 3\nspeed = 11\n");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"config"}, {"devices"}, {"explain"}}) {
    expect_failure(run(command), 4, path_ + ":3");
    expect_failure(run(command), 4, "'backend.speed'");
  }
  write("[backend]\nspec = \"cpu,,\"\n");
  expect_failure(run({"explain"}), 2, path_ + ":2: backend.spec");
  // Commands that name another backend are not affected.
  EXPECT_EQ(run({"explain", "--backend", "cpu"}).code, 0);
  write("[model]\nquantize = \"Q9\"\n");
  expect_failure(run({"run", model(), "-n", "1"}), 2,
                 path_ + ":2: model.quantize");
  const TemporaryVariable none("RUNCIBLE_CONFIG", "");
  EXPECT_EQ(run({"config", "--path"}).out, "\n");
  EXPECT_EQ(run({"explain"}).code, 0);
  const TemporaryVariable missing("RUNCIBLE_CONFIG", "/no/such.toml");
  expect_failure(run({"config"}), 3, "/no/such.toml");
}

TEST_F(CommandConfig, NamesUnknownVariables) {
  write("");
  const TemporaryVariable wrong("RUNCIBLE_THREAD", "1");
  const TemporaryVariable library("RUNCIBLE_OPENCL_LIBRARY", "none.so");
  const std::string text = run({"config", "--changed"}).out;
  EXPECT_NE(text.find("$RUNCIBLE_THREAD is no setting; the nearest is "
                      "$RUNCIBLE_THREADS"),
            std::string::npos)
      << text;
  // It is no setting, but a backend's.
  EXPECT_EQ(text.find("RUNCIBLE_OPENCL_LIBRARY"), std::string::npos) << text;
}

std::string generated(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"run",    model(), "-p", "Once",
                                        "--seed", "7",     "-n", "12"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Outcome outcome = run(arguments);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return outcome.out;
}

TEST_F(CommandConfig, OptionsOverrideIt) {
  write("");
  const std::string hot = generated({});
  const std::string greedy = generated({"--temp", "0"});
  ASSERT_NE(hot, greedy);
  write("[generate]\ntemperature = 0\nmax_tokens = 2\n");
  EXPECT_EQ(generated({}), greedy);
  // Also one that is what it would be without the file.
  EXPECT_EQ(generated({"--temp", "0.8"}), hot);
  EXPECT_EQ(generated({"--temperature", "0.8"}), hot);
  const TemporaryVariable above("RUNCIBLE_GENERATE_TEMPERATURE", "0.8");
  EXPECT_EQ(generated({}), hot);
  write("[backend]\nmemory_limit = 1000\nnuma = \"local\"\n");
  expect_failure(run({"run", model(), "-n", "1"}), 7, "1000");
  EXPECT_EQ(generated({"--memory-limit", "0", "--numa", "auto"}), hot);
}

// The defaults that --help shows are those of the settings, also where others
// are configured.
TEST_F(CommandConfig, HelpShowsTheDefaults) {
  write("");
  const Json whole = report();
  write(
      "[backend]\nnuma = \"off\"\n[model]\ncache_dtype = \"q8_0\"\n"
      "[generate]\ntemperature = 0.25\ntop_k = 7\n");
  size_t shown = 0;
  for (const HelpOption& option : help_options("run")) {
    const size_t begin = option.meaning.find("; default: ");
    if (begin == std::string::npos) continue;
    std::string value = option.meaning.substr(begin + 11);
    value = value.substr(0, value.find_first_of(";,"));
    std::string name = option.name().substr(2);
    std::replace(name.begin(), name.end(), '-', '_');
    for (const Json& setting : whole.at("settings")) {
      const std::string key = setting.at("key");
      if (key.substr(key.find('.') + 1) != name) continue;
      if (key.starts_with("session.")) continue;
      const Json& initial = setting.at("value");
      // Other defaults are described in words.
      if (initial.is_null() || name == "context_length" || name == "threads" ||
          name == "max_rows" || name == "resident_experts") {
        continue;
      }
      ++shown;
      if (initial.is_number()) {
        EXPECT_EQ(std::stod(value), initial.get<double>()) << key;
      } else {
        EXPECT_EQ(value, initial.get<std::string>()) << key;
      }
    }
  }
  EXPECT_EQ(shown, 25);  // 22 of sampling, max_tokens, cache_dtype and numa
}

}  // namespace
}  // namespace rc::test
