/* Runcible: conversations with models, as their makers meant them.
 *
 *     static const char messages[] =
 *         "[{\"role\": \"system\", \"content\": \"You tell fables.\"},"
 *         " {\"role\": \"user\", \"content\": \"Tell me one.\"}]";
 *     rc_tokenizer* tokenizer = NULL;
 *     rc_chat_prompt* prompt = NULL;
 *     rc_chat_options options = RC_CHAT_OPTIONS_INIT;
 *     rc_chat_prompt_report report = RC_CHAT_PROMPT_REPORT_INIT;
 *     options.template_name = "zephyr";
 *     if (rc_tokenizer_open("builtin:fable", &tokenizer) != RC_OK ||
 *         rc_chat_render(tokenizer, messages, sizeof(messages) - 1,
 *                        &options, &prompt) != RC_OK ||
 *         rc_chat_prompt_describe(prompt, &report) != RC_OK) {
 *       fprintf(stderr, "%s\n", rc_error_message());
 *       return 1;
 *     }
 *     printf("%s%d tokens\n", report.text, (int)report.token_count);
 *     rc_chat_prompt_release(prompt);
 *     rc_tokenizer_release(tokenizer);
 */
#ifndef RUNCIBLE_CHAT_H
#define RUNCIBLE_CHAT_H

#include "runcible/generate.h"
#include "runcible/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Prompts of conversations ------------------------------------------
 *
 * Files of models that were trained to converse hold a chat template: a program
 * in the language Jinja that writes a conversation as the text that the model
 * knows. It runs as the library transformers runs it, within limits of time and
 * memory, for it is text from a stranger.
 *
 * Text of messages, tools and arguments never becomes a special token:
 * a user who writes "<|im_end|>" ends nothing. Without such names the tokens
 * are those that transformers gives. */

/* How a prompt ends. */
typedef int32_t rc_chat_ending;
enum {
  RC_ENDING_ANSWER = 0,  /* with what begins an answer of the assistant */
  RC_ENDING_MESSAGE = 1, /* with the last message, as a whole */
  RC_ENDING_OPEN = 2     /* right after the text of the last message, for the
                            model to go on with it */
};

/* How to write a conversation down; see rc_chat_render. Texts are UTF-8,
 * NUL-terminated, and need to be there during the call only. */
typedef struct rc_chat_options {
  size_t struct_size;
  /* The functions that the model may call, as a JSON array in the shape of
   * "tools" of OpenAI's chat completions. NULL: none. Where the template has no
   * place for them, the system message describes them, and calls and results in
   * the conversation are texts. */
  const char* tools;
  /* The source of a chat template. NULL: one of the file, or by name. */
  const char* template_text;
  /* The name of a template: of a variant in the file (its metadata
   * tokenizer.chat_template.NAME; "default" is tokenizer.chat_template), or of
   * one that is well known, for files that have none: alpaca, chatml,
   * command-r, deepseek, deepseek2, falcon3, gemma, glm4, granite, llama2,
   * llama3, mistral, mistral-tekken, mistral-v7, openchat, phi3, phi4, vicuna,
   * zephyr. NULL: the file's variant "tool_use" if there are tools and the file
   * has it, else its default. Ignored with template_text. */
  const char* template_name;
  /* More variables for the template, as a JSON object ("reasoning_effort",
   * "documents", ...). NULL: none. */
  const char* template_arguments;
  /* The present time for templates that write the date: "2024-07-26" or
   * "2024-07-26T14:05:09". NULL: the system's clock and time zone. */
  const char* now;
  /* For models that can do both: 1: think before they answer, 0: do not, -1:
   * whatever the template does by itself. */
  int32_t thinking;
  rc_chat_ending ending;
} rc_chat_options;

#define RC_CHAT_OPTIONS_INIT                                                   \
  {                                                                            \
    RC_INITIAL(struct_size, sizeof(rc_chat_options)), RC_INITIAL(tools, NULL), \
        RC_INITIAL(template_text, NULL), RC_INITIAL(template_name, NULL),      \
        RC_INITIAL(template_arguments, NULL), RC_INITIAL(now, NULL),           \
        RC_INITIAL(thinking, -1), RC_INITIAL(ending, RC_ENDING_ANSWER)         \
  }
/* The same as a function; see base.h. */
RC_API void rc_chat_options_init(rc_chat_options* options, size_t size);

/* A conversation, written down. It does not change: any number of threads may
 * use one at once. */
typedef struct rc_chat_prompt rc_chat_prompt;

/* Writes a conversation down with the chat template of the tokenizer's file, or
 * another one. `messages` is a JSON array in the shape of "messages" of
 * OpenAI's chat completions, of `length` bytes: objects with a "role" (system,
 * developer, user, assistant, tool, or another one that the template names or
 * writes), a "content" (a string, an array of parts of the type text; of the
 * assistant null, too, or none with tool_calls or reasoning), the "tool_calls"
 * of the assistant, each with a name and arguments, and the "tool_call_id" of
 * their results, which is the id of a call in a message before. A result needs
 * none if it has a "name", or if the calls have no ids. The assistant's
 * "reasoning_content" is its reasoning. Other members go to the template as
 * they are. Where the shape allows several forms, the template gets the one
 * that it understands: parts or one text, arguments of calls as an object or as
 * text, "developer" or "system", the name of the function with the result of
 * its call.
 *
 * *prompt is the caller's; see rc_chat_prompt_release. Its tokens are the whole
 * prompt: nothing is to be added around them.
 * RC_E_INVALID_ARGUMENT: an argument; JSON that is malformed, with its byte, or
 * not in that shape, with its place ("messages[2].content"), also an unknown
 * role, with the nearest known one, and the id of no call; a conversation
 * that the template refuses; a last message without text, or whose text the
 * template changes, with RC_ENDING_OPEN. RC_E_NOT_FOUND: no such template, or
 * the file has none. RC_E_UNSUPPORTED: parts other than text; a template or
 * conversation beyond a limit. RC_E_FORMAT: a mistake of the template, with its
 * line and column. RC_E_DEVICE: the system refuses a thread.
 * RC_E_OUT_OF_MEMORY. */
RC_API rc_status rc_chat_render(const rc_tokenizer* tokenizer,
                                const char* messages, size_t length,
                                const rc_chat_options* options,
                                rc_chat_prompt** prompt);
/* References; see base.h. */
RC_API rc_chat_prompt* rc_chat_prompt_retain(rc_chat_prompt* prompt);
RC_API void rc_chat_prompt_release(rc_chat_prompt* prompt);

/* Description of a prompt; see rc_chat_prompt_describe. */
typedef struct rc_chat_prompt_report {
  size_t struct_size;
  const char* text;      /* NUL-terminated; owned by the prompt, as all here */
  size_t length;         /* bytes of the text */
  const int32_t* tokens; /* [token_count] */
  size_t token_count;    /* their number */
  size_t content_count;  /* parts; see rc_chat_prompt_content */
  const char* template_name; /* "default", "tool_use", "chatml", ...; "given":
                                by template_text */
  /* How answers call tools: the name of a known format ("hermes", "llama3",
   * "mistral", ...); "derived": as the template writes calls, found by trying
   * it; "appended": the template has no place for tools, so their description,
   * with how to call them, was added to the system message; "none": no calls
   * are known in answers, all of which are text. */
  const char* call_format;
} rc_chat_prompt_report;

#define RC_CHAT_PROMPT_REPORT_INIT                                     \
  {                                                                    \
    RC_INITIAL(struct_size, sizeof(rc_chat_prompt_report)),            \
        RC_INITIAL(text, NULL), RC_INITIAL(length, 0),                 \
        RC_INITIAL(tokens, NULL), RC_INITIAL(token_count, 0),          \
        RC_INITIAL(content_count, 0), RC_INITIAL(template_name, NULL), \
        RC_INITIAL(call_format, NULL)                                  \
  }
/* The same as a function; see base.h. */
RC_API void rc_chat_prompt_report_init(rc_chat_prompt_report* report,
                                       size_t size);
/* RC_E_INVALID_ARGUMENT: `prompt` or `report`. */
RC_API rc_status rc_chat_prompt_describe(const rc_chat_prompt* prompt,
                                         rc_chat_prompt_report* report);

/* A part of a prompt that comes from messages, tools or arguments. */
typedef struct rc_chat_content_report {
  size_t struct_size;
  size_t begin;       /* its first byte in the text */
  size_t end;         /* the byte after its last one */
  size_t token_begin; /* the first token that stands for a byte of it, also if
                         it stands for others too */
  size_t token_end;   /* the token after the last such */
} rc_chat_content_report;

#define RC_CHAT_CONTENT_REPORT_INIT                                           \
  {                                                                           \
    RC_INITIAL(struct_size, sizeof(rc_chat_content_report)),                  \
        RC_INITIAL(begin, 0), RC_INITIAL(end, 0), RC_INITIAL(token_begin, 0), \
        RC_INITIAL(token_end, 0)                                              \
  }
/* The same as a function; see base.h. */
RC_API void rc_chat_content_report_init(rc_chat_content_report* report,
                                        size_t size);
/* The i-th part, in the order of the text. RC_E_INVALID_ARGUMENT: no such
 * part. */
RC_API rc_status rc_chat_prompt_content(const rc_chat_prompt* prompt, size_t i,
                                        rc_chat_content_report* report);

/* ---- Conversations ------------------------------------------------------
 *
 * A conversation is a list of messages over a session. Answers come as events
 * of a request (see generate.h): text, what the model thinks and its calls of
 * tools are separated, as the makers of the chat template taught the model to
 * write them, and no mark of theirs is ever shown as text. Then the answer is
 * one of the messages. For each answer only what the session does not hold yet
 * is evaluated, also after messages were forgotten.
 *
 * To keep a conversation, keep its session (rc_session_save) and its messages
 * (rc_chat_messages); a session that was restored, or an empty one, and these
 * messages make it again. */
typedef struct rc_chat rc_chat;

/* Begins a conversation without messages over the session, which it keeps
 * alive; what else is done to the session only costs time.
 * `options` are as for rc_chat_render, for the whole of the conversation: `now`
 * NULL is the time of this call; `ending` must be RC_ENDING_ANSWER.
 * RC_E_INVALID_ARGUMENT: an argument; RC_E_NOT_FOUND: no such template, or the
 * file has none; RC_E_UNSUPPORTED: the model has no tokenizer;
 * RC_E_FORMAT: a mistake of the template; RC_E_OUT_OF_MEMORY. */
RC_API rc_status rc_chat_create(rc_session* session,
                                const rc_chat_options* options, rc_chat** chat);
/* References; see base.h. An answer under way goes on to its end. */
RC_API rc_chat* rc_chat_retain(rc_chat* chat);
RC_API void rc_chat_release(rc_chat* chat);

/* Adds messages, as for rc_chat_render: a JSON object, or an array of objects,
 * of `length` bytes. Results of tools are messages of the role "tool" with the
 * id of their call. Places in errors count the messages of this call from 0.
 * RC_E_INVALID_ARGUMENT, RC_E_UNSUPPORTED, RC_E_DEVICE: as rc_chat_render;
 * nothing was added then. RC_E_BUSY: an answer is under way.
 * RC_E_OUT_OF_MEMORY. */
RC_API rc_status rc_chat_add(rc_chat* chat, const char* messages,
                             size_t length);
/* Forgets the last `count` messages. RC_E_INVALID_ARGUMENT: there are fewer;
 * RC_E_BUSY. */
RC_API rc_status rc_chat_undo(rc_chat* chat, size_t count);
/* All messages, a JSON array of *length bytes with a terminating zero, to be
 * freed with rc_free; `length` may be NULL. RC_E_INVALID_ARGUMENT; RC_E_BUSY;
 * RC_E_OUT_OF_MEMORY. */
RC_API rc_status rc_chat_messages(rc_chat* chat, char** messages,
                                  size_t* length);
/* A second conversation with the same messages, over a fork of the session.
 * RC_E_INVALID_ARGUMENT; RC_E_BUSY; RC_E_OUT_OF_MEMORY. */
RC_API rc_status rc_chat_fork(rc_chat* chat, rc_chat** fork);

/* Example: a question to the model that comes with Runcible, and its answer.
 *
 *     static const char question[] =
 *         "[{\"role\": \"user\", \"content\": \"Tell me a fable.\"}]";
 *     rc_backend* backend = NULL;
 *     rc_model* model = NULL;
 *     rc_session* session = NULL;
 *     rc_chat* chat = NULL;
 *     rc_request* request = NULL;
 *     rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
 *     rc_event event = RC_EVENT_INIT;
 *     options.max_tokens = 64;
 *     if (rc_backend_open("cpu", NULL, &backend) != RC_OK ||
 *         rc_model_load(backend, "builtin:fabulist", NULL, &model) != RC_OK ||
 *         rc_session_create(model, NULL, &session) != RC_OK ||
 *         rc_chat_create(session, NULL, &chat) != RC_OK ||
 *         rc_chat_add(chat, question, sizeof(question) - 1) != RC_OK ||
 *         rc_chat_answer_async(chat, &options, NULL, NULL, NULL,
 *                              &request) != RC_OK) {
 *       fprintf(stderr, "%s\n", rc_error_message());
 *       return 1;
 *     }
 *     while (event.type != RC_EVENT_END) {
 *       if (rc_request_next(request, -1, &event) != RC_OK) return 1;
 *       if (event.type == RC_EVENT_PIECE) {
 *         printf("%.*s", (int)event.text_length, event.text);
 *       }
 *     }
 *     printf("\n");
 *     if (event.report->status != RC_OK) return 1;
 *     rc_request_release(request);
 *     rc_chat_release(chat);
 *     rc_session_release(session);
 *     rc_model_release(model);
 *     rc_backend_release(backend);
 */

/* Lets the model answer; as rc_generate_async, but that `options` have no
 * prompt: it is made of the messages. A thread of the library renders and
 * tokenizes it and compiles what grammars the options ask for; the call does
 * not wait for that, nor for a step of the model. The deadline holds meanwhile.
 * Rendering stops at the first byte more than the context can hold, if the
 * session does not shift: the request then ends with RC_END_CONTEXT, and
 * nothing is tokenized. What the session holds is kept as far as it spells the
 * prompt, and dropped from there. An answer that the model ended after calls of
 * tools ends with RC_END_TOOL_CALLS: add a message with the result of each, and
 * ask for the next answer. Stop strings are looked for in all that the model
 * writes, but none goes across a special token. When the end event arrives,
 * the answer so far is among the messages, also one that was cancelled
 * or failed; if it had not said anything then, the messages are as they were.
 * So they are after one of no tokens (max_tokens 0), which only evaluates the
 * prompt. What began like a call and did not become a whole one is part of the
 * answer's text. A call without its first mark counts if it calls a tool of the
 * conversation; any other JSON is text. Arguments that a format writes without
 * quotes have the types that the tool's schema declares; others are as the
 * model wrote them: numbers of any size, half a surrogate pair, a name twice,
 * of which the last one holds. options->tool_choice and
 * options->response_format say whether it is a call, or JSON by a schema.
 * RC_E_INVALID_ARGUMENT: there are no messages, a choice or a format that is
 * malformed, a tool that is not there, or as rc_generate_async; RC_E_BUSY: an
 * answer, or a request on the session, is under way; RC_E_CLOSED, RC_E_QUOTA,
 * RC_E_OUT_OF_MEMORY. The request ends with RC_E_INVALID_ARGUMENT if the
 * template refuses the messages, or a schema is malformed; RC_E_UNSUPPORTED if
 * the model's format of calls is not known, or an assertion of a schema can't
 * be kept, with its JSON pointer; RC_E_FORMAT, RC_E_UNSUPPORTED, RC_E_DEVICE:
 * as rc_chat_render.
 */
RC_API rc_status rc_chat_answer_async(rc_chat* chat,
                                      const rc_generate_options* options,
                                      rc_loop* loop, rc_event_callback callback,
                                      void* user, rc_request** request);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RUNCIBLE_CHAT_H */
