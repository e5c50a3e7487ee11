#include "base/config/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "temporary.h"

namespace rc::config {
namespace {

using test::TemporaryFolder;
using test::TemporaryVariable;

template <class Body>
void expect_error(rc_status status, const std::vector<std::string>& words,
                  Body&& body) {
  try {
    body();
    ADD_FAILURE() << "accepted; wanted " << words.front();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), status) << error.message();
    for (const std::string& word : words) {
      EXPECT_NE(error.message().find(word), std::string::npos)
          << error.message() << "\nlacks " << word;
    }
  }
}

void expect_refused(const std::string& text,
                    const std::vector<std::string>& words) {
  SCOPED_TRACE(text.substr(0, 200));
  expect_error(RC_E_FORMAT, words, [&] { parse(text, "x.toml"); });
}

std::string write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
  return path.string();
}

TEST(ConfigFile, MoreThan32DotsOnALineAreRefused) {
  const std::string dots(32, '.');
  const char* many = "x.toml:3: more than 32 dots on a line";
  expect_refused("# one\n\nspec = '." + dots + "'\n", {many});
  expect_refused("# one\n\n \tspec = '." + dots + "' # no comment", {many});
  expect_refused("# one\n[backend]\nspec = 'cpu' # ." + dots, {many});
  const auto values = parse(
      "# ." + dots + "\n \t#." + dots + "\n[backend]\nspec = '" + dots + "'\n",
      "x.toml");
  EXPECT_EQ(values.at("backend.spec").value, Value(Text(dots)));
}

TEST(ConfigFile, ReadsValuesOfEveryKind) {
  const auto values = parse(
      "# all kinds\n"
      "[backend]\n"
      "spec = \"vulkan, cpu\"\n"
      "threads = 0x04\n"
      "strict = true\n"
      "profile = 0\n"
      "memory_limit = 4_000_000_000\n"
      "\n"
      "[generate]\n"
      "temperature = 1\n"
      "top_p = 5e-1\n"
      "[session]\n"
      "when_full = 'shift'\n"
      "[library]\n",
      "x.toml");
  EXPECT_EQ(values.size(), 8u);
  EXPECT_EQ(values.at("backend.spec").value, Value(Text("vulkan, cpu")));
  EXPECT_EQ(values.at("backend.spec").line, 3u);
  EXPECT_EQ(values.at("backend.threads").value, Value(int64_t{4}));
  EXPECT_EQ(values.at("backend.strict").value, Value(true));
  EXPECT_EQ(values.at("backend.profile").value, Value(false));
  EXPECT_EQ(values.at("backend.memory_limit").value,
            Value(int64_t{4'000'000'000}));
  EXPECT_EQ(values.at("generate.temperature").value, Value(1.0));
  EXPECT_EQ(values.at("generate.top_p").value, Value(0.5));
  EXPECT_EQ(values.at("generate.top_p").line, 11u);
  EXPECT_EQ(values.at("session.when_full").value, Value(Text("shift")));
  EXPECT_TRUE(parse("", "x.toml").empty());
  EXPECT_EQ(parse("backend.threads = 1", "x.toml").size(), 1u);
}

TEST(ConfigFile, RefusesValuesOutOfRange) {
  expect_refused(
      "\n[backend]\nthreads = -1",
      {"x.toml:3: backend.threads is -1", "an integer from 0 to 1024"});
  expect_refused("[backend]\nthreads = 1025", {"x.toml:2", "1025"});
  expect_refused("[backend]\nthreads = \"4\"", {"the text '4'"});
  expect_refused("[backend]\nthreads = 4.0", {"is 4.0"});
  expect_refused("[backend]\nthreads = true", {"is true"});
  expect_refused("[backend]\nthreads = [1]", {"an array"});
  expect_refused("[backend]\nthreads = 1979-05-27", {"a date"});
  expect_refused("[backend.threads]\n", {"backend.threads", "a table"});
  expect_refused("[backend]\nstrict = 2", {"backend.strict is 2", "true"});
  expect_refused("[model]\ncache_dtype = \"f\"",
                 {"the text 'f'", "one of f16, f32, q8_0"});
  expect_refused("[model]\ncache_dtype = \"\"", {"''"});
  expect_refused("[model]\nquantize = \"Q4\\u0000\"", {"zero bytes"});
  expect_refused("[generate]\ntemperature = nan", {"temperature is nan"});
  expect_refused("[generate]\ntemperature = inf", {"temperature is inf"});
  expect_refused("[generate]\ntemperature = 1e39", {"1e+39"});
  expect_refused("[generate]\ntop_p = 0.0", {"above 0 and at most 1"});
}

TEST(ConfigFile, SuggestsTheNearestSetting) {
  expect_refused("[backend]\nthread = 1",
                 {"x.toml:2", "'backend.thread'", "backend.threads"});
  expect_refused("threads = 1", {"'threads'", "backend.threads"});
  expect_refused("[backends]", {"x.toml:1", "'backends'"});
  expect_refused("[backend.cpu]\nthreads = 1", {"'backend.cpu.threads'"});
  expect_refused("[model]\n\"\\u001b[31m\" = 1", {"\\x1b"});
  // The first of several mistakes.
  expect_refused("[session]\nb = 1\n[backend]\na = 1", {"x.toml:2"});
}

TEST(ConfigFile, RefusesInvalidToml) {
  expect_refused("[backend]\nthreads = \n", {"x.toml:2: no TOML: "});
  expect_refused("[backend]\nthreads = 1\nthreads = 2\n", {"x.toml:3"});
  expect_refused("threads", {"x.toml:1"});
  // Input that toml++ 3.3 asserts on, or takes for unreachable.
  expect_refused("\na = \xc3\xb6", {"x.toml:2"});
  expect_refused("\na\xc3\xb6 = 1", {"x.toml:2"});
  expect_refused("\n[!]", {"x.toml:2"});
  expect_refused("\n[[=", {"x.toml:2"});
  expect_refused("\n[", {"x.toml:2"});
  expect_refused("\xff\xfe", {"x.toml:1"});
  expect_refused(std::string("a = 1\0", 6), {"x.toml:1"});
  expect_refused("backend.threads = 99999999999999999999", {"x.toml:1"});
}

TEST(ConfigFile, RefusesDeepNesting) {
  expect_refused("a = " + std::string(100'000, '['), {"x.toml:1"});
  std::string table = "[a";
  for (int i = 0; i < 50'000; ++i) table += ".a";
  expect_refused(table + "]\nb = 1", {"x.toml"});
  expect_refused(table.substr(1) + " = 1", {"x.toml"});
  std::string inline_tables = "a = ";
  for (int i = 0; i < 50'000; ++i) inline_tables += "{a = ";
  expect_refused(inline_tables, {"x.toml:1"});
  expect_refused("a = [\n{a.a = [\n{a.a = [\n{a.a = [\n{a = 1", {"x.toml:"});
}

class ConfigPlaceTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  TemporaryVariable config_{"RUNCIBLE_CONFIG", ""};
  TemporaryVariable xdg_{"XDG_CONFIG_HOME", ""};
  TemporaryVariable home_{"HOME", folder_.path().string()};

  // After it is gone the variable has its value again.
  void SetUp() override { unsetenv("RUNCIBLE_CONFIG"); }
};

TEST_F(ConfigPlaceTest, IsTheUserFileUnlessAnotherIsNamed) {
  const std::string own =
      (folder_.path() / ".config/runcible/config.toml").string();
  EXPECT_EQ(find_place({}).path, own);
  EXPECT_EQ(find_place({}).said_by, "HOME");
  EXPECT_FALSE(find_place({}).must_exist);
  setenv("XDG_CONFIG_HOME", "/x", 1);
  EXPECT_EQ(find_place({}).path, "/x/runcible/config.toml");
  setenv("XDG_CONFIG_HOME", "x", 1);  // is to be left aside, as XDG has it
  EXPECT_EQ(find_place({}).path, own);
  {
    const TemporaryVariable relative("HOME", "x");
    EXPECT_EQ(find_place({}).path, "");
  }
  setenv("RUNCIBLE_CONFIG", "y.toml", 1);
  EXPECT_EQ(find_place({}).path, "y.toml");
  EXPECT_TRUE(find_place({}).must_exist);
  EXPECT_EQ(find_place("z.toml").path, "z.toml");
  EXPECT_EQ(find_place("").path, "");
  setenv("RUNCIBLE_CONFIG", "", 1);
  EXPECT_EQ(find_place({}).path, "");
  EXPECT_FALSE(find_place({}).must_exist);
}

TEST_F(ConfigPlaceTest, MayBeMissingUnlessItWasNamed) {
  const File absent = read_file(find_place({}));
  EXPECT_FALSE(absent.exists);
  EXPECT_TRUE(absent.values.empty());
  const std::string path =
      write(folder_.path() / ".config/runcible/config.toml",
            "[backend]\nthreads = 3\n");
  const File file = read_file(find_place({}));
  EXPECT_TRUE(file.exists);
  EXPECT_EQ(file.values.at("backend.threads").value, Value(int64_t{3}));
  write(path, "");
  EXPECT_TRUE(read_file(find_place({})).values.empty());
  expect_error(RC_E_NOT_FOUND, {"/no/such.toml", "rc_config_use_file"},
               [] { read_file(find_place("/no/such.toml")); });
}

TEST_F(ConfigPlaceTest, RefusesOtherThanSmallRegularFiles) {
  expect_error(RC_E_IO, {"no regular file"},
               [&] { read_file(find_place(folder_.path().string())); });
  const std::string pipe = (folder_.path() / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  expect_error(RC_E_IO, {pipe}, [&] { read_file(find_place(pipe)); });
  const std::string large =
      write(folder_.path() / "large", std::string(1 << 20, '#'));
  expect_error(RC_E_FORMAT, {large, "1048576 bytes"},
               [&] { read_file(find_place(large)); });
}

TEST(ConfigFile, TheFirstMistakeIsReported) {
  expect_refused("[model]\nzzz = 1\n[backend]\naaa = 1\n",
                 {"x.toml:2: ", "'model.zzz'"});
  expect_refused("backend.zzz = 1\nbackend.aaa = 1\n",
                 {"x.toml:1: ", "'backend.zzz'"});
  // On one line the first by name.
  expect_refused("backend = { zzz = 1, aaa = 1, mmm = 1 }\n",
                 {"x.toml:1: ", "'backend.aaa'"});
}

}  // namespace
}  // namespace rc::config
