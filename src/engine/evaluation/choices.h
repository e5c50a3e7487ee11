// Questions with several answers to choose from, and how often a model finds
// the right one the most likely.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/evaluation/mean.h"
#include "engine/evaluation/text_score.h"

namespace rc::engine {

struct Question {
  int64_t line = 0;  // in the file, from 1 on
  std::string context;
  std::vector<std::string> choices;
  size_t answer = 0;  // the number of the right one
};

// Reads JSON Lines: on each line that is not blank an object with "question" or
// "context", "choices", of which there are 2 to 64, and "answer", the number of
// the right one from 0 on. Other members are passed over. Throws RC_E_FORMAT
// with `name` and the line for anything else, and for a text without questions.
std::vector<Question> read_questions(std::string_view text,
                                     std::string_view name);

struct ChoiceScore {
  int64_t questions = 0;
  Measured accuracy;            // share of questions answered rightly
  Measured accuracy_by_length;  // the same, by likelihood per byte of a choice
};

// A choice follows its context, with a space between unless one of them has
// white space there. Its likelihood is that of the tokens that the two have
// together and the context alone has not; of equals the first counts. Throws
// RC_E_CONTEXT_FULL, with the line, for a question that does not fit into the
// model's context, RC_E_INVALID_ARGUMENT for a choice that comes to no token,
// RC_E_CANCELLED, and what steps throw. `name` is that of the questions.
ChoiceScore score_choices(const EvaluatedModel& model,
                          const std::vector<Question>& questions,
                          std::string_view name,
                          const std::function<bool(double)>& progress);

}  // namespace rc::engine
