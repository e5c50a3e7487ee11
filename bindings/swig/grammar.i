/* Grammars: rc_grammar_create_choices with a list of texts that is filled one
 * by one, because arrays of texts have no typemap. */
%{
typedef struct text_list {
  char** texts;
  size_t count;
} text_list;

static int add_text(text_list* list, const char* text) {
  /* NULL becomes an empty text, which is not a valid choice. */
  const char* given = text == NULL ? "" : text;
  char* copy = (char*)copy_of(given, strlen(given) + 1);
  char** more =
      (char**)realloc(list->texts, (list->count + 1) * sizeof(char*));
  if (more != NULL) list->texts = more;
  if (copy == NULL || more == NULL) {
    free(copy);
    return 0;
  }
  more[list->count++] = copy;
  return 1;
}

static void free_text_list(text_list* list) {
  size_t i;
  if (list == NULL) return;
  for (i = 0; i < list->count; ++i) free(list->texts[i]);
  free(list->texts);
  free(list);
}
%}

%exception text_list::~text_list "$action"
typedef struct text_list text_list;
struct text_list {};
%extend text_list {
  text_list() { return (text_list*)calloc(1, sizeof(text_list)); }
  ~text_list() { free_text_list($self); }

  runcible_kept add(const char* NAME) { return add_text($self, NAME); }
}

%inline %{
static rc_status grammar_of_choices(const rc_tokenizer* tokenizer,
                                    const text_list* choices,
                                    rc_grammar** grammar) {
  return rc_grammar_create_choices(
      tokenizer, choices == NULL ? NULL : (const char* const*)choices->texts,
      choices == NULL ? 0 : choices->count, grammar);
}
%}
