/* Conversations: prompts and messages as plain functions.
 *
 * rc_chat_options with the memory of its texts: they are copied and freed with
 * the object. */
%ignore rc_chat_options::tools;
%ignore rc_chat_options::template_text;
%ignore rc_chat_options::template_name;
%ignore rc_chat_options::template_arguments;
%ignore rc_chat_options::now;

%{
/* The options come first, so that a pointer to them points to the struct. */
typedef struct {
  rc_chat_options options;
  char *tools, *template_text, *template_name, *template_arguments, *now;
} owned_chat_options;

static owned_chat_options* owned_of_chat(rc_chat_options* options) {
  return (owned_chat_options*)options;
}

static rc_chat_options* new_chat_options(void) {
  owned_chat_options* owned = (owned_chat_options*)calloc(1, sizeof(*owned));
  if (owned == NULL) return NULL;
  rc_chat_options_init(&owned->options, sizeof(owned->options));
  return &owned->options;
}

static void free_chat_options(rc_chat_options* options) {
  owned_chat_options* owned = owned_of_chat(options);
  if (options == NULL) return;
  free(owned->now);
  free(owned->template_arguments);
  free(owned->template_name);
  free(owned->template_text);
  free(owned->tools);
  free(owned);
}
%}

%define runcible_chat_text(MEMBER)
%extend rc_chat_options {
  runcible_kept set_ ## MEMBER(const char* NAME) {
    return keep_text(&owned_of_chat($self)->MEMBER, &$self->MEMBER, NAME);
  }
}
%enddef
%exception rc_chat_options::~rc_chat_options "$action"
%extend rc_chat_options {
  rc_chat_options() { return new_chat_options(); }
  ~rc_chat_options() { free_chat_options($self); }
}
runcible_chat_text(tools)
runcible_chat_text(template_text)
runcible_chat_text(template_name)
runcible_chat_text(template_arguments)
runcible_chat_text(now)

%apply (const char* TEXT, size_t LENGTH) {
  (const char* messages, size_t length)
}
%apply (char** OWNED, size_t* LENGTH) { (char** messages, size_t* length) }
%apply (const char** BORROWED, size_t* LENGTH) {
  (const char** prompt_text, size_t* length)
}
%apply int32_t* OUTPUT { int32_t* prompt_token }

/* A report of a prompt points to memory of the prompt: chat_prompt_text and
 * chat_prompt_token copy it. */
%ignore rc_chat_prompt_report::text;
%ignore rc_chat_prompt_report::tokens;
%ignore rc_chat_prompt_report::template_name;
/* `end` is a keyword of some languages. */
%rename(text_begin) rc_chat_content_report::begin;
%rename(text_end) rc_chat_content_report::end;
%inline %{
static rc_status chat_prompt_text(const rc_chat_prompt* prompt,
                                  const char** prompt_text, size_t* length) {
  rc_chat_prompt_report report = RC_CHAT_PROMPT_REPORT_INIT;
  const rc_status status = rc_chat_prompt_describe(prompt, &report);
  *prompt_text = report.text;
  *length = report.length;
  return status;
}

/* The i-th token; -1 if there is none. */
static rc_status chat_prompt_token(const rc_chat_prompt* prompt, int64_t i,
                                   int32_t* prompt_token) {
  rc_chat_prompt_report report = RC_CHAT_PROMPT_REPORT_INIT;
  const rc_status status = rc_chat_prompt_describe(prompt, &report);
  *prompt_token = i >= 0 && (uint64_t)i < report.token_count ? report.tokens[i]
                                                             : -1;
  return status;
}
%}

/* See events.i. */
%ignore rc_chat_answer_async;
