// Descriptions of trees of tokenizer.json that differ in a few places.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json_value.h"
#include "files/ggml/description.h"

namespace rc::ggml::test {

using Json = nlohmann::ordered_json;
using Describe = Description (*)(const JsonValue&, const JsonValue&);
// JSON pointers with the values that stand there; "" removes a value.
using Changes = std::vector<std::pair<std::string, std::string>>;

inline Json changed(Json tokenizer, const Changes& changes) {
  for (const auto& [pointer, value] : changes) {
    const Json::json_pointer place(pointer);
    if (value.empty()) {
      Json& parent = tokenizer.at(place.parent_pointer());
      if (parent.is_array()) {
        parent.erase(std::stoul(place.back()));
      } else {
        parent.erase(place.back());
      }
    } else {
      tokenizer[place] = Json::parse(value);
    }
  }
  return tokenizer;
}

inline Description describe(Describe function, const Json& tokenizer) {
  const JsonValue tree = parse_json(tokenizer.dump(), "tokenizer", 64);
  return function(tree, *tree.find("model"));
}

// "" if it is described, else the message.
inline std::string refusal(Describe function, const Json& tokenizer) {
  try {
    describe(function, tokenizer);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_UNSUPPORTED) << error.message();
    return error.message();
  }
  return "";
}

// A part of the message, or "" for a tokenizer that is described.
struct Case {
  Changes changes;
  std::string message;
};

inline void expect_cases(Describe function, const Json& tokenizer,
                         const std::vector<Case>& cases) {
  for (const Case& item : cases) {
    std::string where;
    for (const auto& [pointer, value] : item.changes) {
      where += pointer + " = " + value + " ";
    }
    const std::string message =
        refusal(function, changed(tokenizer, item.changes));
    if (item.message.empty()) {
      EXPECT_EQ(message, "") << where;
    } else {
      EXPECT_NE(message.find(item.message), std::string::npos)
          << where << ": " << message;
    }
  }
}

}  // namespace rc::ggml::test
