// Runs instances through grammars and says which ones are accepted and how long
// masks took; driven by grammar.py.
//
//   grammar_instances VOCABULARY < CASES > RESULTS
//
// VOCABULARY has, for each token, its size in four bytes, lowest first, and its
// bytes; size 0 stands for tokens that are never text, and the last token ends
// a text. CASES and RESULTS are JSON, one line for each case: see grammar.py.
#include <algorithm>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "text/grammar/grammar.h"

namespace {

using rc::text::grammar::Grammar;
using rc::text::grammar::JsonOptions;
using rc::text::grammar::Matcher;
using rc::text::grammar::TokenMask;
using rc::text::grammar::TokenTrie;
using rc::text::grammar::TokenVocabulary;
using rc::text::grammar::VocabularyIndex;
using Json = nlohmann::json;

// Of this thread alone: the machine may do other things at the same time.
double now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 +
         static_cast<double>(time.tv_nsec) * 1e-3;
}

TokenVocabulary read_vocabulary(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)),
                          std::istreambuf_iterator<char>());
  TokenVocabulary vocabulary;
  for (size_t at = 0; at + 4 <= bytes.size();) {
    size_t size = 0;
    for (size_t i = 4; i-- > 0;) {
      size = size * 256 + static_cast<uint8_t>(bytes[at + i]);
    }
    vocabulary.tokens.push_back(bytes.substr(at + 4, size));
    at += 4 + size;
  }
  vocabulary.ends = {static_cast<int32_t>(vocabulary.tokens.size() - 1)};
  return vocabulary;
}

// The longest token first, as it takes no tokenizer.
std::vector<int32_t> tokenize(const TokenTrie& trie, std::string_view text) {
  std::vector<int32_t> tokens;
  while (!text.empty()) {
    size_t size = std::min(text.size(), trie.max_depth());
    for (; size > 0; --size) {
      const size_t node = trie.find(text.substr(0, size));
      if (node == trie.nodes().size() || trie.nodes()[node].tokens < 0)
        continue;
      int32_t token = -1;
      trie.for_each(trie.nodes()[node], [&](int32_t t) {
        if (token < 0) token = t;
      });
      tokens.push_back(token);
      break;
    }
    if (size == 0) break;
    text.remove_prefix(size);
  }
  return tokens;
}

struct Run {
  bool accepted = false;
  bool consistent = true;  // masks say the same as accepting does
};

Run run(const Grammar& grammar, const VocabularyIndex& vocabulary,
        std::string_view text, Json* times) {
  const std::unique_ptr<Matcher> matcher = grammar.match();
  Run result;
  std::vector<int32_t> tokens = tokenize(vocabulary.all(), text);
  tokens.push_back(vocabulary.ends()[0]);
  for (const int32_t token : tokens) {
    const double start = now();
    const TokenMask& mask = matcher->mask();
    times->push_back(now() - start);
    const bool allowed = mask.test(token);
    if (matcher->accept(token) != allowed) result.consistent = false;
    if (!allowed) return result;
  }
  result.accepted = true;
  return result;
}

// Texts drawn through masks, as bytes in hexadecimal; "dead end" if no token
// was allowed. Those that are not at an end after some tokens are left out.
Json draw(const Grammar& grammar, const VocabularyIndex& vocabulary,
          size_t texts) {
  static constexpr int kMaxTokens = 300;
  static constexpr char kHex[] = "0123456789abcdef";
  const int32_t quote = tokenize(vocabulary.all(), "\"").at(0);
  std::mt19937 random(1);
  Json drawn = Json::array();
  for (size_t i = 0; i < texts; ++i) {
    const std::unique_ptr<Matcher> matcher = grammar.match();
    std::string hex;
    for (int token = 0; token < kMaxTokens && !matcher->ended(); ++token) {
      const TokenMask& mask = matcher->mask();
      std::vector<int32_t> allowed;
      for (size_t id = 0; id < vocabulary.size(); ++id) {
        if (mask.test(static_cast<int32_t>(id))) {
          allowed.push_back(static_cast<int32_t>(id));
        }
      }
      if (allowed.empty()) {
        drawn.push_back("dead end");
        break;
      }
      // Texts should end, and names and values be short.
      const int32_t end = vocabulary.ends()[0];
      int32_t chosen =
          mask.test(end) ? end : allowed[random() % allowed.size()];
      if (chosen != end && mask.test(quote) && random() % 4 == 0)
        chosen = quote;
      matcher->accept(chosen);
      for (const char byte : vocabulary.text(chosen)) {
        hex += kHex[static_cast<uint8_t>(byte) / 16];
        hex += kHex[static_cast<uint8_t>(byte) % 16];
      }
    }
    if (matcher->ended()) drawn.push_back(hex);
  }
  return drawn;
}

Json run_case(const Json& given,
              const std::shared_ptr<const VocabularyIndex>& vocabulary) {
  Json result = {{"id", given["id"]},
                 {"times", Json::array()},
                 {"accepted", Json::array()}};
  try {
    const std::string schema = given["schema"];
    const double start = now();
    JsonOptions options;
    options.reader.assert_formats = given.value("formats", true);
    // As RC_GRAMMAR_JSON_SCHEMA is unless it is open.
    options.reader.closed = given.value("closed", false);
    options.reader.plain_integers = options.reader.closed;
    options.short_numbers = options.reader.closed;
    const auto grammar = Grammar::json_schema(schema, options, vocabulary);
    result["compile"] = now() - start;
    if (given.contains("draw")) {
      result["drawn"] = draw(*grammar, *vocabulary, given["draw"]);
      return result;
    }
    for (const Json& texts : given["tests"]) {
      Json accepted = Json::array();
      for (const std::string text : texts) {
        const Run one = run(*grammar, *vocabulary, text, &result["times"]);
        accepted.push_back(one.accepted);
        if (!one.consistent) result["inconsistent"] = text;
      }
      result["accepted"].push_back(accepted);
    }
  } catch (const rc::Error& error) {
    result["error"] = error.message();
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " VOCABULARY < CASES > RESULTS\n";
    return 2;
  }
  const auto vocabulary =
      std::make_shared<const VocabularyIndex>(read_vocabulary(argv[1]));
  std::string line;
  while (std::getline(std::cin, line)) {
    std::cout << run_case(Json::parse(line), vocabulary).dump() << '\n'
              << std::flush;
  }
  return 0;
}
