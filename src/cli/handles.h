// Handles of the library that release themselves, and failures that end the
// command.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "exit_codes.h"
#include "runcible/runcible.h"

namespace cli {

// Ends the command with this code and, unless empty, this line.
struct Failure {
  int code;
  std::string message;
};

// Replaces C's names of options and functions by the command's; see
// own_words.h.
std::string in_own_words(const std::string& message);

// Throws a Failure with the library's message, in the words of the command.
inline void check(rc_status status) {
  if (status != RC_OK) {
    throw Failure{exit_code(status), in_own_words(rc_error_message())};
  }
}

template <auto release>
struct Release {
  template <class T>
  void operator()(T* handle) const {
    release(handle);
  }
};

using DeviceList =
    std::unique_ptr<rc_device_list, Release<rc_device_list_release>>;
using Backend = std::unique_ptr<rc_backend, Release<rc_backend_release>>;
using Info = std::unique_ptr<rc_model_info, Release<rc_model_info_release>>;
using Tokenizer = std::unique_ptr<rc_tokenizer, Release<rc_tokenizer_release>>;
using ChatPrompt =
    std::unique_ptr<rc_chat_prompt, Release<rc_chat_prompt_release>>;
using Model = std::unique_ptr<rc_model, Release<rc_model_release>>;
using Plan = std::unique_ptr<rc_plan, Release<rc_plan_release>>;
using Session = std::unique_ptr<rc_session, Release<rc_session_release>>;
using Grammar = std::unique_ptr<rc_grammar, Release<rc_grammar_release>>;
using Matcher =
    std::unique_ptr<rc_grammar_matcher, Release<rc_grammar_matcher_release>>;
using Chat = std::unique_ptr<rc_chat, Release<rc_chat_release>>;
using Request = std::unique_ptr<rc_request, Release<rc_request_release>>;

// Calls a function that makes a handle as its last argument:
// make<Session>(rc_session_create, model, nullptr).
template <class Handle, class Function, class... Arguments>
Handle make(Function function, Arguments... arguments) {
  typename Handle::pointer handle = nullptr;
  check(function(arguments..., &handle));
  return Handle(handle);
}

// Memory that the library gave.
template <class T>
using Returned = std::unique_ptr<T, Release<rc_free>>;

}  // namespace cli
