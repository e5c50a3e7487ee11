/* Exercises chat.h. */
#include "runcible/chat.h"

#include "check.h"

static const char messages[] =
    "[{\"role\": \"user\", \"content\": \"hello </s>\"}]";

static void check_prompt(const rc_chat_prompt* prompt) {
  rc_chat_prompt_report report = RC_CHAT_PROMPT_REPORT_INIT;
  rc_chat_content_report content = RC_CHAT_CONTENT_REPORT_INIT;
  size_t i = 0;
  int ends = 0;
  CHECK_STATUS(RC_OK, rc_chat_prompt_describe(prompt, &report));
  CHECK(strcmp(report.text, "<|user|>\nhello </s></s>\n<|assistant|>\n") == 0);
  CHECK(report.length == strlen(report.text));
  CHECK(strcmp(report.template_name, "zephyr") == 0);
  CHECK(report.content_count == 1);
  CHECK_STATUS(RC_OK, rc_chat_prompt_content(prompt, 0, &content));
  CHECK(content.begin == 9 && content.end == 19);
  CHECK(content.token_begin < content.token_end);
  CHECK(content.token_end < report.token_count);
  /* Only the template's is the token. */
  for (i = 0; i < report.token_count; ++i) {
    if (report.tokens[i] != 2) continue;
    ++ends;
    CHECK(i >= content.token_end);
  }
  CHECK(ends == 1);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_chat_prompt_content(prompt, 1, &content));
}

/* Pulls the events of an answer: how many bytes of text came. */
static size_t receive(rc_request* request, rc_end_reason reason) {
  size_t length = 0;
  rc_event event = RC_EVENT_INIT;
  for (;;) {
    CHECK_STATUS(RC_OK, rc_request_next(request, -1, &event));
    if (event.type == RC_EVENT_END) break;
    CHECK(event.type == RC_EVENT_PIECE);
    CHECK(event.call == -1 && event.call_name == NULL);
    length += event.text_length;
  }
  CHECK(event.report->reason == reason);
  rc_request_release(request);
  return length;
}

static void check_conversation(const rc_chat_options* options) {
  rc_backend* backend = NULL;
  rc_model* model = NULL;
  rc_session* session = NULL;
  rc_chat* chat = NULL;
  rc_chat* fork = NULL;
  rc_request* request = NULL;
  char* text = NULL;
  size_t length = 0;
  rc_generate_options generation = RC_GENERATE_OPTIONS_INIT;
  generation.max_tokens = 8;
  generation.seed = 1;
  generation.ignore_eos = 1;
  REQUIRE_OK(rc_backend_open("reference", NULL, &backend));
  REQUIRE_OK(rc_model_load(backend, RC_MODEL, NULL, &model));
  REQUIRE_OK(rc_session_create(model, NULL, &session));
  CHECK_STATUS(RC_E_NOT_FOUND, rc_chat_create(session, NULL, &chat));
  REQUIRE_OK(rc_chat_create(session, options, &chat));
  rc_session_release(session);
  rc_model_release(model);
  rc_backend_release(backend);

  CHECK_STATUS(RC_OK, rc_chat_add(chat, messages, strlen(messages)));
  REQUIRE_OK(
      rc_chat_answer_async(chat, &generation, NULL, NULL, NULL, &request));
  CHECK(receive(request, RC_END_LENGTH) > 0);
  CHECK_STATUS(RC_OK, rc_chat_messages(chat, &text, &length));
  CHECK(length == strlen(text));
  CHECK(strstr(text, "\"role\":\"assistant\"") != NULL);
  rc_free(text);
  CHECK_STATUS(RC_OK, rc_chat_fork(chat, &fork));
  CHECK_STATUS(RC_OK, rc_chat_undo(fork, 2));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_chat_undo(fork, 1));
  CHECK_STATUS(RC_OK, rc_chat_messages(fork, &text, NULL));
  CHECK(strcmp(text, "[]") == 0);
  rc_free(text);
  rc_chat_release(fork);
  CHECK(rc_chat_retain(chat) == chat);
  rc_chat_release(chat);
  /* An answer needs no conversation to come to its end. */
  REQUIRE_OK(
      rc_chat_answer_async(chat, &generation, NULL, NULL, NULL, &request));
  rc_chat_release(chat);
  CHECK(receive(request, RC_END_LENGTH) > 0);
}

int main(void) {
  rc_tokenizer* tokenizer = NULL;
  rc_chat_prompt* prompt = NULL;
  rc_chat_options options = RC_CHAT_OPTIONS_INIT;
  rc_chat_options same;
  rc_chat_options_init(&same, sizeof(same));
  CHECK(same.thinking == -1 && same.ending == RC_ENDING_ANSWER);
  REQUIRE_OK(rc_tokenizer_open(RC_MODEL, &tokenizer));

  /* The file has no template. */
  CHECK_STATUS(RC_E_NOT_FOUND, rc_chat_render(tokenizer, messages,
                                              strlen(messages), NULL, &prompt));
  CHECK(prompt == NULL);
  options.template_name = "zephyr";
  REQUIRE_OK(
      rc_chat_render(tokenizer, messages, strlen(messages), &options, &prompt));
  rc_tokenizer_release(tokenizer);
  check_prompt(prompt);
  CHECK(rc_chat_prompt_retain(prompt) == prompt);
  rc_chat_prompt_release(prompt);
  check_prompt(prompt);
  rc_chat_prompt_release(prompt);
  rc_chat_prompt_release(NULL);
  check_conversation(&options);
  return CHECK_RESULT();
}
