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

int main(void) {
  rc_tokenizer* tokenizer = NULL;
  rc_chat_prompt* prompt = NULL;
  rc_chat_options options = RC_CHAT_OPTIONS_INIT;
  rc_chat_options same;
  rc_chat_options_init(&same, sizeof(same));
  CHECK(same.thinking == -1 && same.add_generation_prompt == 1);
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
  return CHECK_RESULT();
}
