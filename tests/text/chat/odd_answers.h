// Answers with calls that are odd, for tests of what comes after them.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "text/chat/replies/reply_format.h"

namespace rc::text::chat {

// Answers with odd calls, in the parts of which their format leaves a choice.
inline std::string odd_answer(const ReplyFormat& format, std::mt19937* random) {
  const auto one_of = [&](std::vector<std::string> texts) {
    return texts[(*random)() % texts.size()];
  };
  const std::string value =
      one_of({"1e400", "-18446744073709551616", "\"x\\ud83d\"", "\"a\nb\"",
              "null", "[[[{}]]]", "\"\"", "true", "0.1", "\"</s>\""});
  const std::string arguments =
      one_of({"{}", "{\"a\": " + value + "}",
              "{\"a\": " + value + ", \"a\": " + value + "}"});
  const std::string text = one_of({"", "Well.", "<think>Hm.</think>"});
  std::string answer = text;
  for (size_t i = (*random)() % 3 + 1; i > 0; --i) {
    answer += format.call_begin;
    if (format.shape == CallShape::kObjects) {
      answer += one_of({"{", "[{"});
      const bool list = answer.ends_with("[{");
      answer += cat('"', format.name_key, R"(": "f", ")", format.arguments_key,
                    "\": ", arguments);
      answer += one_of({"", cat(", \"", format.id_key, "\": ",
                                one_of({"\"call_1\"", "7", "null", "\"\""}))});
      answer += list ? "}]" : "}";
    } else if (format.shape == CallShape::kNamed && !format.name_end.empty()) {
      if (!format.name_begin.empty()) {
        answer += cat("function", format.name_begin);
      }
      answer += "f";
      if (!format.id_begin.empty()) answer += cat(format.id_begin, "odd id");
      answer += cat(format.name_end, arguments);
    } else if (format.shape == CallShape::kTags) {
      if (!format.name_begin.empty()) answer += format.name_begin;
      answer +=
          cat("f", format.name_end, format.key_begin, "a", format.key_end,
              format.value_begin, value, format.value_end, format.body_end);
    } else if (format.shape == CallShape::kElements) {
      answer += cat("f", format.name_end, format.key_begin, "a>", value,
                    format.value_end, "a>");
    } else if (format.shape == CallShape::kGemma) {
      answer += "call:f{a:1e400,b:None,c:[<|\"|>\n<|\"|>]}";
    }
    answer += format.call_end;
  }
  return answer;
}

}  // namespace rc::text::chat
