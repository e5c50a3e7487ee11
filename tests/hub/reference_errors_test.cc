// References, sources and choices of files that are refused, each with its
// message, and the nearest that are taken.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/quote.h"
#include "expect_error.h"
#include "hub/choice.h"
#include "hub/fetch.h"
#include "hub/reference.h"

namespace rc::hub {
namespace {

using test::expect_error;

void expect_none(const std::string& text, const char* why) {
  expect_error(
      RC_E_INVALID_ARGUMENT,
      quote(text) + ": " + why +
          "; a model on the hub is hf:OWNER/NAME, hf:OWNER/NAME:FILE or either "
          "with @REVISION behind it; for a file that is called so put ./ "
          "before it",
      [&] { parse_reference(text); });
}

TEST(ReferenceErrors, TheWrongPartIsNamed) {
  for (const char* text : {"", "hf", "o/m", "HF:o/m", "./hf:o/m"}) {
    expect_none(text, "it does not begin with hf:");
  }
  for (const char* text : {"hf:", "hf:o", "hf:o@main", "hf:o:f"}) {
    expect_none(text, "there is no OWNER/NAME");
  }
  for (const char* text :
       {"hf:o/m@", "hf:o/m@..", "hf:o/m@a//b", "hf:o/m:f@"}) {
    expect_none(text, "what follows @ is no revision");
  }
  for (const char* text : {"hf:o/m:", "hf:o/m:..", "hf:o/m:@main"}) {
    expect_none(text, "what follows the second : is no name of a file");
  }
}

TEST(ReferenceErrors, OwnersAndNamesFollowTheRulesOfTheHub) {
  const std::string longest(96, 'n');
  // Each as an owner and as a name.
  for (const std::string& part :
       {std::string(), longest + "n", std::string("-a"), std::string(".a"),
        std::string("a-"), std::string("a."), std::string("a--b"),
        std::string("a..b"), std::string("a`"), std::string("a{"),
        std::string("a["), std::string("a^"), std::string("a,"),
        std::string("a b"), std::string("\xC3\xA4")}) {
    expect_none("hf:" + part + "/m", "this is no OWNER/NAME");
    expect_none("hf:o/" + part, "this is no OWNER/NAME");
  }
  expect_none("hf:o/m/x", "this is no OWNER/NAME");
  for (const std::string& part :
       {longest, std::string("a"), std::string("z"), std::string("A"),
        std::string("Z"), std::string("0"), std::string("9"),
        std::string("_a_"), std::string("a-b"), std::string("a.b"),
        std::string("a-.b")}) {
    EXPECT_EQ(parse_reference("hf:" + part + "/m").owner, part);
    EXPECT_EQ(parse_reference("hf:o/" + part).name, part);
  }
}

TEST(ReferenceErrors, NamesOfFilesHaveLimits) {
  const auto parts = [](size_t last) {
    std::string name;
    for (int i = 0; i < 3; ++i) name += std::string(255, 'f') + "/";
    return name + std::string(128, 'g') + "/" + std::string(last, 'h');
  };
  ASSERT_EQ(parts(127).size(), 1024u);
  for (const std::string& name :
       {std::string(), parts(128), std::string(256, 'f'),
        std::string(256, 'f') + "/a", std::string("a\x1F"),
        std::string("a\x7F"), std::string("a\\b"), std::string("/a"),
        std::string("a/"), std::string("a//b"), std::string("."),
        std::string("a/."), std::string("../a"), std::string("a/../b"),
        std::string("\xFF"), std::string("a\0b", 3)}) {
    EXPECT_FALSE(is_safe_file_name(name)) << quote(name);
    EXPECT_FALSE(is_safe_revision(name)) << quote(name);
  }
  for (const std::string& name :
       {parts(127), std::string(255, 'f'), std::string("a"), std::string("a b"),
        std::string("a~"), std::string("..."), std::string(".a"),
        std::string("a/..b"), std::string("\xC3\xA4")}) {
    EXPECT_TRUE(is_safe_file_name(name)) << quote(name);
    EXPECT_TRUE(is_safe_revision(name)) << quote(name);
  }
}

TEST(ReferenceErrors, CommitsAreFortyDigits) {
  EXPECT_TRUE(is_commit(std::string(40, '0')));
  EXPECT_TRUE(is_commit(std::string(38, 'a') + "9f"));
  for (const std::string& text :
       {std::string(39, 'a'), std::string(41, 'a'), std::string(39, 'a') + "g",
        std::string(39, 'a') + "A", std::string()}) {
    EXPECT_FALSE(is_commit(text)) << text;
  }
}

TEST(SourceErrors, AddressNeedsATargetFile) {
  FetchRequest request;
  for (const char* source : {"https://a/b", "http://a/b"}) {
    request.source = source;
    request.to = "";
    expect_error(RC_E_INVALID_ARGUMENT,
                 quote(source) + ": name the file that it is to become",
                 [&] { check_source(request); });
    request.to = "b";
    EXPECT_NO_THROW(check_source(request));
  }
  request.to = "b";
  for (const char* source : {"", "ftp://a/b", "http:/a", "HTTPS://a/b", "b"}) {
    request.source = source;
    expect_error(RC_E_INVALID_ARGUMENT,
                 quote(source) +
                     ": what can be fetched is hf:OWNER/NAME[:FILE]"
                     "[@REVISION] or an address that begins with https://",
                 [&] { check_source(request); });
  }
  // A model of a hub has its name in the cache.
  request.source = "hf:o/m";
  request.to = "";
  EXPECT_NO_THROW(check_source(request));
}

TEST(ChoiceErrors, AmbiguousChoiceListsTheFiles) {
  const Reference all = {"o", "m", "", ""};
  std::vector<RepositoryFile> files = {{"a-Q4_0.gguf", 7}, {"b-Q8_0.gguf", 9}};
  expect_error(RC_E_INVALID_ARGUMENT,
               "here: name one of its files or quantizations, as in "
               "hf:o/m:Q4_K_M; there are: 'a-Q4_0.gguf' (7 bytes), "
               "'b-Q8_0.gguf' (9 bytes)",
               [&] { choose_files(files, all, "here"); });
  EXPECT_EQ(choose_files(files, {"o", "m", "Q8_0", ""}, "here").main,
            "b-Q8_0.gguf");
  files.push_back({"c-Q8_0.gguf", 11});
  expect_error(RC_E_INVALID_ARGUMENT,
               "here: 'Q8_0' fits several files; name one: 'b-Q8_0.gguf' (9 "
               "bytes), 'c-Q8_0.gguf' (11 bytes)",
               [&] {
                 choose_files(files, {"o", "m", "Q8_0", ""}, "here");
               });
  expect_error(RC_E_NOT_FOUND,
               "here: there is no file and no quantization 'Q2_K'", [&] {
                 choose_files({}, {"o", "m", "Q2_K", ""}, "here");
               });
  files.resize(1);
  EXPECT_EQ(choose_files(files, all, "here").main, "a-Q4_0.gguf");
}

TEST(ChoiceErrors, FoldersNeedAConfigurationAndWeights) {
  const Reference all = {"o", "m", "", ""};
  const std::string end =
      "; name a FILE if it is another one: hf:OWNER/NAME:FILE";
  std::vector<RepositoryFile> files = {{"model.safetensors", 1}};
  expect_error(RC_E_NOT_FOUND,
               "here: neither GGUF files are there nor a config.json" + end,
               [&] { choose_files(files, all, "here"); });
  files = {{"config.json", 1}, {"sub/model.safetensors", 1}};
  expect_error(
      RC_E_NOT_FOUND,
      "here: neither GGUF files are there nor weights as safetensors" + end,
      [&] { choose_files(files, all, "here"); });
  files.push_back({"model.safetensors", 1});
  const Choice choice = choose_files(files, all, "here");
  EXPECT_EQ(choice.main, "");
  EXPECT_EQ(choice.files,
            (std::vector<std::string>{"config.json", "model.safetensors"}));
}

}  // namespace
}  // namespace rc::hub
