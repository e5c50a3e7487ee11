// The options of a generation, copied from the caller's struct. engine::check
// says what they may be; here arrays are only looked for.
#pragma once

#include "engine/conversation.h"
#include "engine/engine.h"
#include "runcible/generate.h"

namespace rc::api {

// `answer`: of a conversation, which others may not ask for.
engine::RequestOptions request_options(const rc_generate_options* given,
                                       const model::ModelFile& file,
                                       bool answer = false);

// The options of an answer of a conversation.
engine::AnswerRules answer_rules(const rc_generate_options& options);

}  // namespace rc::api
