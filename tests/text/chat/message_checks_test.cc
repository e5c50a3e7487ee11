// Messages that are refused before the template runs, and similar ones
// that are taken.
#include "text/chat/message_checks.h"

#include "text/chat/chat_template.h"
#include "text/chat/chat_util.h"
#include "text/chat/prompt_util.h"

namespace rc::text::chat {
namespace {

// Writes every role as it is.
const std::string kAnyRole =
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}"
    "{% for c in m.tool_calls or [] %}{{ c.function.name }}"
    "{{ c.function.arguments | tojson }}{% endfor %}{% endfor %}";
// Names two roles, and drops messages of others.
const std::string kSomeRoles =
    "{% for m in messages %}{% if m.role == 'ipython' or m.role == \"user\" %}"
    "[{{ m.role }}]{{ m.content }}{% endif %}{% endfor %}";

std::shared_ptr<const ChatTemplate> chat_without_names(
    const std::string& source) {
  return ChatTemplate::create(source, tokenizer_with({}));
}

// The prompt, or "error: ..." with the message.
std::string prompt_of(const std::string& source, const Json& messages) {
  try {
    PromptOptions options;
    options.now = recorded_time().now;
    return render(*chat_without_names(source), messages, nullptr, options).text;
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_INVALID_ARGUMENT) << error.message();
    return "error: " + error.message();
  }
}

Json one(const std::string& role, const Json& content = "x") {
  return Json::array({{{"role", role}, {"content", content}}});
}

void expect_error(const std::string& source, const Json& messages,
                  const std::string& begin, const std::string& end = "") {
  const std::string text = prompt_of(source, messages);
  EXPECT_TRUE(text.starts_with("error: " + begin)) << text;
  EXPECT_TRUE(text.ends_with(end)) << text;
  EXPECT_EQ(text.find("line "), std::string::npos) << text;
}

TEST(Roles, MisspelledRoleErrorNamesTheNearest) {
  for (const auto& [role, near] :
       std::vector<std::pair<std::string, std::string>>{
           {"usr", "user"},
           {"User", "user"},
           {"USER", "user"},
           {"users", "user"},
           {"assitant", "assistant"},
           {"assist", "assistant"},
           {"sytem", "system"},
           {"tools", "tool"},
           {"develper", "developer"}}) {
    for (const std::string& source : {kAnyRole, kSomeRoles}) {
      expect_error(source, one(role),
                   "messages[0].role: '" + role +
                       "' is a role that the chat "
                       "template does not know; use one of system, developer, "
                       "user, assistant, tool",
                   "; did you mean " + near + "?");
    }
  }
  expect_error(kSomeRoles, one("ipythn"), "messages[0].role: 'ipythn'",
               "tool, ipython; did you mean ipython?");
}

TEST(Roles, RolesUnknownToTheTemplateAreRefused) {
  for (const std::string role : {"narrator", "control", "", "|>", "<|im_end|>",
                                 "document {\"document_id\": \"1\"}"}) {
    expect_error(kSomeRoles, one(role), "messages[0].role: '",
                 "use one of system, developer, user, assistant, tool, "
                 "ipython");
  }
  expect_error(kAnyRole, one(""), "messages[0].role: ''");
  // The place is that of the message.
  Json messages = one("user");
  messages.push_back(one("wizard")[0]);
  expect_error(kSomeRoles, messages, "messages[1].role: 'wizard'");
}

TEST(Roles, RolesOfTheTemplateAreAccepted) {
  for (const std::string role :
       {"system", "developer", "user", "assistant", "function", "ipython"}) {
    EXPECT_FALSE(is_error(prompt_of(kSomeRoles, one(role)))) << role;
  }
  for (const std::string role :
       {"narrator", "control", "thinking", "available_tools", "user_2", "user2",
        "document {\"document_id\": \"1\"}", "Alice"}) {
    EXPECT_EQ(prompt_of(kAnyRole, one(role)), "<|" + role + "|>x");
  }
  // After others, or before them.
  for (const std::string condition :
       {"loop.index0 > 0 or m.role == 'user'",
        "loop.index0 > 1 or m.role in ['user', 'assistant']"}) {
    const std::string source =
        "{% for m in messages %}{% if not (" + condition +
        ") %}{{ raise_exception('order') }}{% endif %}[{{ m.role }}]"
        "{{ m.content }}{% endfor %}";
    const Json messages = {{{"role", "user"}, {"content", "a"}},
                           {{"role", "assistant"}, {"content", "b"}},
                           {{"role", "narrator"}, {"content", "c"}}};
    EXPECT_EQ(prompt_of(source, messages), "[user]a[assistant]b[narrator]c");
  }
  // Templates that take upper case.
  const std::string lower =
      "{% for m in messages %}{% if m.role | lower == 'user' %}"
      "[{{ m.content }}]{% endif %}{% endfor %}";
  EXPECT_EQ(prompt_of(lower, one("USER")), "[x]");
}

TEST(Roles, RolesOfPublishedTemplatesAreAccepted) {
  const auto folder = test::shared_path("chat/templates");
  RC_NEED_SHARED(folder);
  size_t templates = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".jinja") continue;
    const std::string source = read_text(entry.path());
    const auto chat = chat_without_names(source);
    ++templates;
    for (const std::string role :
         {"system", "developer", "user", "assistant", "tool", "function",
          "ipython", "model", "chatbot", "tool_results"}) {
      const bool standard = role == "system" || role == "developer" ||
                            role == "user" || role == "assistant";
      const bool named = source.find("'" + role + "'") != std::string::npos ||
                         source.find("\"" + role + "\"") != std::string::npos;
      if (!standard && !named) continue;
      std::string message;
      try {
        render(*chat, one(role), nullptr, {});
      } catch (const Error& error) {
        message = error.message();
      }
      EXPECT_EQ(message.find("messages[0].role"), std::string::npos)
          << entry.path() << " " << role << ": " << message;
    }
    std::string message;
    try {
      render(*chat, one("usr"), nullptr, {});
    } catch (const Error& error) {
      message = error.message();
    }
    EXPECT_TRUE(message.starts_with("messages[0].role: 'usr'"))
        << entry.path() << ": " << message;
  }
  EXPECT_GT(templates, 50U);
  const std::string granite =
      read_text(folder / "ibm-granite-granite-3.3-2B-Instruct.jinja");
  for (const std::string role :
       {"control", "document {\"document_id\": \"1\"}"}) {
    Json messages = one(role);
    messages.push_back(one("user")[0]);
    const std::string text = prompt_of(granite, messages);
    EXPECT_NE(text.find("<|start_of_role|>" + role + "<|end_of_role|>x"),
              std::string::npos)
        << text;
  }
}

TEST(Contents, AbsentContentErrorNamesThePlace) {
  const std::string text_or_parts = "a string or an array of parts";
  for (const std::string role : {"system", "developer", "user"}) {
    const std::string place = "messages[0].content: ";
    expect_error(kAnyRole, Json::array({{{"role", role}}}), place,
                 "absent, but it must be " + text_or_parts);
    expect_error(kAnyRole, one(role, nullptr), place,
                 "null, but it must be " + text_or_parts);
    for (const Json& content : {Json(5), Json(true), Json::object()}) {
      expect_error(kAnyRole, one(role, content), place,
                   ", but it must be a string, an array of parts or null");
    }
  }
  expect_error(kAnyRole, Json::array({{{"role", "tool"}, {"name", "f"}}}),
               "messages[0].content: absent", text_or_parts);
  expect_error(kAnyRole,
               Json::array({{{"role", "assistant"}, {"contnet", "x"}}}),
               "messages[0].content: absent",
               "null; only messages with tool_calls may have none");
  for (const Json& nothing : {Json(nullptr), Json::array()}) {
    expect_error(
        kAnyRole,
        Json::array({{{"role", "assistant"}, {"tool_calls", nothing}}}),
        "messages[0].content: absent");
  }
}

TEST(Contents, AssistantMessagesWithoutContentAreAccepted) {
  const Json call = {{"function", {{"name", "f"}, {"arguments", "{}"}}}};
  for (const Json& message :
       {Json{{"role", "assistant"}, {"content", nullptr}},
        Json{{"role", "assistant"}, {"content", ""}},
        Json{{"role", "assistant"}, {"tool_calls", {call}}},
        Json{{"role", "assistant"}, {"reasoning_content", "why"}},
        Json{{"role", "assistant"}, {"refusal", "no"}},
        // A role of the template.
        Json{{"role", "documents"}, {"documents", {"a"}}},
        Json{{"role", "user"}, {"content", ""}}}) {
    EXPECT_FALSE(is_error(prompt_of(kAnyRole, Json::array({message}))))
        << message;
  }
}

Json messages_with_call(const Json& function,
                        const Json& more = Json::object()) {
  Json call = {{"type", "function"}, {"function", function}};
  call.update(more);
  return Json::array(
      {{{"role", "user"}, {"content", "q"}},
       {{"role", "assistant"}, {"content", nullptr}, {"tool_calls", {call}}}});
}

TEST(Calls, InvalidMemberErrorNamesThePlace) {
  const std::string call = "messages[1].tool_calls[0]";
  const std::string function = call + ".function";
  expect_error(kAnyRole, messages_with_call({{"arguments", "{}"}}),
               function + ".name: absent", "a string");
  expect_error(kAnyRole, messages_with_call({{"name", 5}, {"arguments", "{}"}}),
               function + ".name: a number", "a string");
  expect_error(kAnyRole,
               messages_with_call({{"name", ""}, {"arguments", "{}"}}),
               function + ".name: an empty string");
  const std::string object = "an object, or one as JSON in a string";
  expect_error(kAnyRole, messages_with_call({{"name", "f"}}),
               function + ".arguments: absent", object);
  for (const Json& arguments : {Json(nullptr), Json(5), Json::array()}) {
    expect_error(kAnyRole,
                 messages_with_call({{"name", "f"}, {"arguments", arguments}}),
                 function + ".arguments: ", object);
  }
  expect_error(
      kAnyRole,
      messages_with_call({{"name", "f"}, {"arguments", "{}"}}, {{"id", 7}}),
      call + ".id: a number", "a string");
  const Json good = messages_with_call({{"name", "f"}, {"arguments", "{}"}});
  EXPECT_FALSE(is_error(prompt_of(kAnyRole, good)));
}

// A call, or two, with these ids, and one result.
Json messages_with_result(const std::vector<std::string>& ids,
                          const Json& result) {
  Json calls = Json::array();
  for (const std::string& id : ids) {
    Json call = {{"function", {{"name", "f"}, {"arguments", "{}"}}}};
    if (!id.empty()) call["id"] = id;
    calls.push_back(call);
  }
  Json messages = Json::array({{{"role", "user"}, {"content", "q"}}});
  if (!ids.empty()) {
    messages.push_back({{"role", "assistant"}, {"tool_calls", calls}});
  }
  Json message = {{"role", "tool"}, {"content", "4"}};
  message.update(result);
  messages.push_back(message);
  return messages;
}

TEST(Results, ResultWithoutACallErrorNamesThePlace) {
  const std::string id = "messages[2].tool_call_id: ";
  const std::string before = "the id of a call in a message before it";
  expect_error(kAnyRole, messages_with_result({"a"}, Json::object()),
               id + "absent", before);
  expect_error(kAnyRole,
               messages_with_result({"a"}, {{"tool_call_id", nullptr}}),
               id + "null", before);
  expect_error(kAnyRole, messages_with_result({"a"}, {{"tool_call_id", 5}}),
               id + "a number", "a string");
  expect_error(
      kAnyRole, messages_with_result({"a", "b"}, {{"tool_call_id", "c"}}),
      id + "'c' is not " + before, "use the id of a call, such as 'b'");
  expect_error(kAnyRole, messages_with_result({""}, {{"tool_call_id", "c"}}),
               id + "'c' is not " + before, "give each an \"id\"");
  expect_error(kAnyRole, messages_with_result({}, {{"tool_call_id", "c"}}),
               "messages[1].tool_call_id: 'c' is not " + before,
               "whose tool_calls have it");
  expect_error(kAnyRole, messages_with_result({}, Json::object()),
               "messages[1].tool_call_id: absent", before);
  // The call comes only after it.
  Json messages = messages_with_result({}, {{"tool_call_id", "a"}});
  messages.push_back(messages_with_result({"a"}, Json::object())[1]);
  expect_error(kAnyRole, messages, "messages[1].tool_call_id: 'a'");
}

TEST(Results, ResultsOfEarlierCallsAreAccepted) {
  for (const Json& messages :
       {messages_with_result({"a"}, {{"tool_call_id", "a"}}),
        messages_with_result({"a", "b"}, {{"tool_call_id", "b"}}),
        // As transformers has them: by the name, or by the order.
        messages_with_result({"a"}, {{"name", "f"}}),
        messages_with_result({}, {{"name", "f"}}),
        messages_with_result({""}, Json::object())}) {
    EXPECT_FALSE(is_error(prompt_of(kAnyRole, messages))) << messages;
  }
}

TEST(Results, ResultsOfEarlierMessagesAreAccepted) {
  const auto chat = chat_without_names(kAnyRole);
  const JsonValue earlier =
      tree_of(messages_with_result({"a"}, {{"tool_call_id", "a"}}));
  const auto check = [&](const std::string& id) {
    chat->check_messages(
        tree_of(Json::array(
            {{{"role", "tool"}, {"tool_call_id", id}, {"content", "4"}}})),
        earlier);
  };
  EXPECT_NO_THROW(check("a"));
  EXPECT_THROW(check("b"), Error);
}

}  // namespace
}  // namespace rc::text::chat
