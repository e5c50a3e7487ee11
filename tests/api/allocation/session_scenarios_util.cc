// Sessions, requests and conversations.
#include "scenarios.h"

namespace rc::test {
namespace {

rc_status fork_of(const Session& session, Session& fork) {
  rc_session* made = nullptr;
  const rc_status status = RC_CALL(rc_session_fork)(session.get(), &made);
  fork.reset(made);
  return status;
}

void plain_end(void* user, rc_status status, const char*) {
  static_cast<End*>(user)->receive(status);
}

// Appends two of the model's rows.
rc_status append_rows(const World& world, rc_session* session) {
  const int64_t shape[] = {2, 64};
  rc_tensor* view = nullptr;
  RC_TRY(rc_tensor_reshape(world.x.get(), shape, 2, &view));
  const TensorHandle rows(view);
  return RC_CALL(rc_session_append_embeddings)(session, view);
}

rc_status sessions(World& world) {
  rc_session* created = nullptr;
  RC_TRY(RC_CALL(rc_session_create)(world.model.get(), nullptr, &created));
  const Session session(created);
  RC_CALL(rc_session_release)(RC_CALL(rc_session_retain)(created));
  const int32_t tokens[] = {1, 2, 3};
  RC_TRY(RC_CALL(rc_session_append)(created, tokens, 3));
  RC_TRY(RC_CALL(rc_session_append_text)(created, "hello", 5, 0));
  RC_TRY(append_rows(world, created));
  RC_TRY(RC_CALL(rc_session_decode)(created, 0));
  const float* logits = nullptr;
  size_t rows = 0, vocabulary = 0;
  RC_TRY(RC_CALL(rc_session_logits)(created, &logits, &rows, &vocabulary));
  int64_t position = 0;
  RC_TRY(RC_CALL(rc_session_position)(created, &position));
  int32_t* held = nullptr;
  size_t count = 0;
  RC_TRY(RC_CALL(rc_session_tokens)(created, &held, &count));
  rc_free(held);
  RC_TRY(RC_CALL(rc_session_truncate)(created, 2));
  Session fork;
  RC_TRY(fork_of(session, fork));
  RC_TRY(RC_CALL(rc_session_append)(fork.get(), tokens, 1));
  End end;
  return await(RC_CALL(rc_session_decode_async)(fork.get(), 0, world.loop.get(),
                                                plain_end, &end),
               world.loop.get(), end);
}

rc_status saved_sessions(World& world) {
  const std::string path = world.path("session");
  RC_TRY(RC_CALL(rc_session_save)(world.session.get(), path.c_str()));
  rc_session* made = nullptr;
  RC_TRY(RC_CALL(rc_session_restore)(world.model.get(), path.c_str(), nullptr,
                                     &made));
  const Session restored(made);
  void* saved = nullptr;
  size_t size = 0;
  RC_TRY(RC_CALL(rc_session_save_memory)(made, &saved, &size));
  made = nullptr;
  const rc_status status = RC_CALL(rc_session_restore_memory)(
      world.model.get(), saved, size, nullptr, &made);
  const Session same(made);
  rc_free(saved);
  RC_TRY(status);
  made = nullptr;
  RC_TRY(RC_CALL(rc_session_migrate)(world.session.get(),
                                     world.reference_model.get(), &made));
  const Session migrated(made);
  RC_TRY(RC_CALL(rc_session_move)(made, world.model.get()));
  End end;
  return await(
      RC_CALL(rc_session_move_async)(made, world.reference_model.get(),
                                     world.loop.get(), plain_end, &end),
      world.loop.get(), end);
}

rc_generate_options few_tokens() {
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  options.max_tokens = 3;
  options.seed = 1;
  options.ignore_eos = 1;
  return options;
}

// The status of a request whose events are received one by one.
rc_status receive_all(rc_request* request) {
  rc_event event = RC_EVENT_INIT;
  rc_status status = RC_OK;
  while (status == RC_OK && event.type != RC_EVENT_END) {
    status = RC_CALL(rc_request_next)(request, -1, &event);
  }
  return status == RC_OK ? event.report->status : status;
}

rc_status requests(World& world) {
  rc_generate_options options = few_tokens();
  Session fork;
  RC_TRY(fork_of(world.session, fork));
  char* text = nullptr;
  const rc_status status =
      RC_CALL(rc_generate)(fork.get(), &options, &text, nullptr, nullptr);
  rc_free(text);  // which there is after an error too
  RC_TRY(status);
  rc_request* accepted = nullptr;
  RC_TRY(RC_CALL(rc_generate_async)(fork.get(), &options, nullptr, nullptr,
                                    nullptr, &accepted));
  const Request request(accepted);
  RC_CALL(rc_request_release)(RC_CALL(rc_request_retain)(accepted));
  RC_TRY(receive_all(accepted));
  return RC_CALL(rc_request_wait)(accepted, -1);
}

rc_status requests_on_a_loop(World& world) {
  rc_generate_options options = few_tokens();
  options.max_tokens = 40;
  Session fork;
  RC_TRY(fork_of(world.session, fork));
  End end;
  rc_request* accepted = nullptr;
  RC_TRY(RC_CALL(rc_generate_async)(
      fork.get(), &options, world.loop.get(),
      [](void* user, const rc_event* event) {
        if (event->type == RC_EVENT_END) {
          static_cast<End*>(user)->receive(event->report->status);
        }
      },
      &end, &accepted));
  const Request request(accepted);
  // It may have ended before.
  const rc_status cancelled = RC_CALL(rc_request_cancel)(accepted);
  const rc_status status = await(world.loop.get(), end);
  RC_TRY(cancelled);
  return status == RC_E_CANCELLED ? RC_OK : status;
}

constexpr char kMessages[] =
    R"([{"role": "user", "content": "hello"},)"
    R"( {"role": "assistant", "tool_calls": [{"id": "1", "function":)"
    R"( {"name": "f", "arguments": "{\"n\": [1, 2]}"}}]},)"
    R"( {"role": "tool", "tool_call_id": "1", "content": "4"}])";

rc_chat_options chat_options() {
  rc_chat_options options = RC_CHAT_OPTIONS_INIT;
  options.tools = R"([{"type": "function", "function": {"name": "f"}}])";
  options.template_text =
      "{{ tools | tojson }}{% for m in messages %}{{ m.role }}{{ m.content }}"
      "{{ m.name }}{% for call in m.tool_calls %}{{ call | tojson }}"
      "{% endfor %}{% endfor %}";
  return options;
}

using Prompt = std::unique_ptr<rc_chat_prompt, Release<rc_chat_prompt_release>>;

rc_status prompts(World& world) {
  const rc_chat_options options = chat_options();
  rc_chat_prompt* rendered = nullptr;
  RC_TRY(RC_CALL(rc_chat_render)(world.tokenizer.get(), kMessages,
                                 sizeof kMessages - 1, &options, &rendered));
  const Prompt prompt(rendered);
  RC_CALL(rc_chat_prompt_release)(RC_CALL(rc_chat_prompt_retain)(rendered));
  rc_chat_prompt_report report = RC_CHAT_PROMPT_REPORT_INIT;
  RC_TRY(RC_CALL(rc_chat_prompt_describe)(rendered, &report));
  rc_chat_content_report content = RC_CHAT_CONTENT_REPORT_INIT;
  return RC_CALL(rc_chat_prompt_content)(rendered, 0, &content);
}

rc_status conversations(World& world) {
  constexpr char kOne[] = R"({"role": "user", "content": "hi"})";
  rc_chat_options options = RC_CHAT_OPTIONS_INIT;
  options.template_text = "{% for m in messages %}{{ m.content }}{% endfor %}";
  rc_session* created = nullptr;
  RC_TRY(rc_session_create(world.model.get(), nullptr, &created));
  const Session session(created);
  rc_chat* begun = nullptr;
  RC_TRY(RC_CALL(rc_chat_create)(created, &options, &begun));
  const Conversation chat(begun);
  RC_CALL(rc_chat_release)(RC_CALL(rc_chat_retain)(begun));
  RC_TRY(RC_CALL(rc_chat_add)(begun, kOne, sizeof kOne - 1));
  const rc_generate_options few = few_tokens();
  rc_request* accepted = nullptr;
  RC_TRY(RC_CALL(rc_chat_answer_async)(begun, &few, nullptr, nullptr, nullptr,
                                       &accepted));
  const Request request(accepted);
  RC_TRY(receive_all(accepted));
  char* messages = nullptr;
  RC_TRY(RC_CALL(rc_chat_messages)(begun, &messages, nullptr));
  rc_free(messages);
  RC_TRY(RC_CALL(rc_chat_undo)(begun, 1));
  rc_chat* fork = nullptr;
  RC_TRY(RC_CALL(rc_chat_fork)(begun, &fork));
  rc_chat_release(fork);
  return RC_OK;
}

}  // namespace

std::vector<Scenario> session_scenarios() {
  return {{"sessions", sessions, 200},
          {"saved_sessions", saved_sessions, 100},
          {"requests", requests, 200},
          {"requests_on_a_loop", requests_on_a_loop, 100},
          {"prompts", prompts, 100},
          {"conversations", conversations, 100}};
}

}  // namespace rc::test
