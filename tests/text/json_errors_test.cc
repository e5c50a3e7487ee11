// Values of tokenizer.json at their limits: the last that is accepted and the
// first that is refused.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "text/json_tokenizer_util.h"

namespace rc::text {
namespace {

OrderedJson small() {
  return {{"added_tokens", OrderedJson::array()},
          {"normalizer", nullptr},
          {"pre_tokenizer", nullptr},
          {"post_processor", nullptr},
          {"decoder", nullptr},
          {"model",
           {{"type", "BPE"},
            {"vocab", {{"a", 0}, {"b", 1}, {"ab", 2}}},
            {"merges", {"a b"}}}}};
}

std::string ids_of(const OrderedJson& json, const std::string& text) {
  std::string out;
  for (const TokenId id : tokenizer_of(json)->tokenize(text, {})) {
    if (!out.empty()) out += ' ';
    out += std::to_string(id);
  }
  return out;
}

void expect_refused(const OrderedJson& json, const std::string& part) {
  try {
    tokenizer_of(json);
    ADD_FAILURE() << "accepted, without " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.message().find("small.gguf: tokenizer.huggingface.json: "),
              0u);
    EXPECT_NE(error.message().find(part), std::string::npos) << error.message();
  }
}

TEST(JsonTokenizerErrors, MissingMembersAreNamed) {
  OrderedJson json = small();
  EXPECT_EQ(ids_of(json, "abb"), "2 1");
  json["post_processor"] = {{"type", "BertProcessing"}, {"sep", {"b", 1}}};
  expect_refused(json, "/post_processor has no member 'cls'");
  json["post_processor"]["cls"] = {"a", 0};
  EXPECT_EQ(ids_of(json, "ab"), "0 2 1");
}

TEST(JsonTokenizerErrors, SpecialTokensOfPostProcessorsNeedIds) {
  for (const char* type : {"BertProcessing", "RobertaProcessing"}) {
    OrderedJson json = small();
    json["post_processor"] = {
        {"type", type}, {"sep", {"b", 1}}, {"cls", {"a", 0}}};
    EXPECT_EQ(ids_of(json, "ab"), "0 2 1");
    json["post_processor"]["cls"] = OrderedJson::array({"a"});
    expect_refused(json, "/post_processor/cls must be a token and its id");
    json["post_processor"]["cls"] = OrderedJson::array();
    expect_refused(json, "/post_processor/cls must be a token and its id");
    json["post_processor"]["cls"] = {"a", 0, 1};
    expect_refused(json, "/post_processor/cls has 3 elements; the limit is 2");
  }
}

TEST(JsonTokenizerErrors, DuplicateIdsAreRefused) {
  OrderedJson json = small();
  json["model"]["vocab"]["c"] = 1;
  expect_refused(json, "/model/vocab gives the id 1 to 'b' and to 'c'");
  json["model"]["vocab"]["c"] = 3;
  EXPECT_EQ(ids_of(json, "c"), "3");
}

TEST(JsonTokenizerErrors, CharsmapsMustBeBase64) {
  OrderedJson json = small();
  json["normalizer"] = {{"type", "Precompiled"},
                        {"precompiled_charsmap", "AAA*"}};
  expect_refused(json, "/normalizer/precompiled_charsmap is not base64");
  json["normalizer"].erase("precompiled_charsmap");
  EXPECT_EQ(ids_of(json, "ab"), "2");
}

TEST(JsonTokenizerErrors, CharsmapsMustContainTheirTrie) {
  OrderedJson json = small();
  const auto set = [&](const char* base64) -> const OrderedJson& {
    json["normalizer"] = {{"type", "Precompiled"},
                          {"precompiled_charsmap", base64}};
    return json;
  };
  const auto refused = [&](const char* base64, const std::string& part) {
    try {
      tokenizer_of(set(base64));
      ADD_FAILURE() << base64;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), RC_E_FORMAT);
      EXPECT_NE(error.message().find(part), std::string::npos)
          << error.message();
    }
  };
  refused("AAAA", "has 3 bytes; its header alone takes 4");
  EXPECT_EQ(ids_of(set("AAAAAA=="), "ab"), "2");  // 4 bytes: a trie of none
  refused("BAAAAA==", "announces a trie of 4 bytes");
  refused("BAAAAAAAAA==", "announces a trie of 4 bytes");  // 3 bytes follow
  refused("AwAAAAAAAAA=", "announces a trie of 3 bytes");
  EXPECT_EQ(ids_of(set("BAAAAAAAAAA="), "ab"), "2");
}

TEST(JsonTokenizerErrors, TokensHaveAtMost4096Bytes) {
  OrderedJson json = small();
  json["model"]["vocab"][std::string(4096, 'x')] = 3;
  EXPECT_EQ(tokenizer_of(json)->size(), 4);
  json["model"]["vocab"][std::string(4097, 'x')] = 4;
  expect_refused(json, "of 4097 bytes; the limit is 4096");
}

// A text may grow to 64 times its size and 65536 bytes.
TEST(JsonTokenizerErrors, GrowthByNormalizersIsLimited) {
  const auto replace = [](size_t times) {
    return OrderedJson{{"type", "Replace"},
                       {"pattern", {{"String", "a"}}},
                       {"content", std::string(times, 'a')}};
  };
  const auto expect_limit = [](const OrderedJson& normalizer,
                               const std::string& part) {
    OrderedJson json = small();
    json["normalizer"] = normalizer;
    const auto tokenizer = tokenizer_of(json);
    EXPECT_EQ(tokenizer->tokenize(std::string(1820, 'a'), {}).size(),
              size_t{1820} * 100);
    try {
      tokenizer->tokenize(std::string(1821, 'a'), {});
      ADD_FAILURE() << part;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), RC_E_INVALID_ARGUMENT);
      EXPECT_NE(error.message().find(part), std::string::npos)
          << error.message();
    }
  };
  expect_limit(replace(100),
               "a normalizer Replace makes of 1821 bytes more than 182080");
  expect_limit(
      {{"type", "Sequence"},
       {"normalizers", OrderedJson::array({replace(10), replace(10)})}},
      "the normalizers make of a text more than 182080 bytes");
}

}  // namespace
}  // namespace rc::text
