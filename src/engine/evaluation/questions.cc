#include <charconv>

#include "base/error.h"
#include "base/json_value.h"
#include "engine/evaluation/choices.h"

namespace rc::engine {
namespace {

constexpr size_t kFewestChoices = 2;
constexpr size_t kMostChoices = 64;
constexpr size_t kMostNesting = 32;

using Type = JsonValue::Type;

// One line of a file of questions.
class QuestionReader {
 public:
  QuestionReader(std::string place, std::string_view line)
      : place_(std::move(place)), object_(parse(line)) {}

  Question read() const {
    if (!object_.is(Type::kObject)) wrong("it is ", type_name(object_));
    Question question;
    question.context = context();
    const JsonValue& choices = need("choices", Type::kArray, "an array");
    const size_t count = choices.items.size();
    if (count < kFewestChoices || count > kMostChoices) {
      wrong("\"choices\" has ", count, " elements, but there must be ",
            kFewestChoices, " to ", kMostChoices);
    }
    for (size_t i = 0; i < count; ++i) {
      if (!choices.items[i].is(Type::kString)) {
        wrong("element ", i, " of \"choices\" is ", type_name(choices.items[i]),
              ", not a string");
      }
      question.choices.push_back(choices.items[i].text);
    }
    question.answer = answer(count);
    return question;
  }

 private:
  template <class... Parts>
  [[noreturn]] void wrong(const Parts&... parts) const {
    fail(RC_E_FORMAT, place_, ": ", parts...,
         "; a question is an object such as {\"question\": \"...\", "
         "\"choices\": [\"...\", \"...\"], \"answer\": 0}");
  }

  JsonValue parse(std::string_view line) const {
    try {
      return parse_json(line, place_, kMostNesting);
    } catch (const Error& error) {
      throw Error(RC_E_FORMAT, error.message());
    }
  }

  const JsonValue& need(std::string_view name, Type type,
                        const char* what) const {
    const JsonValue* member = object_.find(name);
    if (member == nullptr) wrong("there is no \"", name, "\"");
    if (!member->is(type)) {
      wrong("\"", name, "\" is ", type_name(*member), ", not ", what);
    }
    return *member;
  }

  const std::string& context() const {
    const bool question = object_.find("question") != nullptr;
    if (question && object_.find("context") != nullptr) {
      wrong("there are both \"question\" and \"context\"");
    }
    return need(question ? "question" : "context", Type::kString, "a string")
        .text;
  }

  size_t answer(size_t choices) const {
    const JsonValue& number = need("answer", Type::kNumber, "a number");
    size_t answer = 0;
    const char* const end = number.text.data() + number.text.size();
    const auto read = std::from_chars(number.text.data(), end, answer);
    if (read.ec != std::errc() || read.ptr != end || answer >= choices) {
      wrong("\"answer\" is ", number.text, ", but it must be 0 to ",
            choices - 1);
    }
    return answer;
  }

  const std::string place_;
  const JsonValue object_;
};

}  // namespace

std::vector<Question> read_questions(std::string_view text,
                                     std::string_view name) {
  std::vector<Question> questions;
  int64_t number = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    questions.push_back(
        QuestionReader(cat(name, ", line ", number), line).read());
    questions.back().line = number;
  }
  if (questions.empty()) {
    fail(RC_E_FORMAT, name, ": there are no questions in it");
  }
  return questions;
}

}  // namespace rc::engine
