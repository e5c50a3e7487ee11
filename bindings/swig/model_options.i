/* rc_model_options with the memory of its texts, which are copied and freed with
 * the object. */
%{
/* The options come first, so that a pointer to them points to the struct. */
typedef struct {
  rc_model_options options;
  char* quantize;
  char* experts_on;
} owned_model_options;

static owned_model_options* owned_of_model(rc_model_options* options) {
  return (owned_model_options*)options;
}

static rc_model_options* new_model_options(void) {
  owned_model_options* owned = (owned_model_options*)calloc(1, sizeof(*owned));
  if (owned == NULL) return NULL;
  rc_model_options_init(&owned->options, sizeof(owned->options));
  return &owned->options;
}

static void free_model_options(rc_model_options* options) {
  if (options == NULL) return;
  free(owned_of_model(options)->quantize);
  free(owned_of_model(options)->experts_on);
  free(options);
}
%}

/* Set like the texts in generate_options.i. */
#if defined(SWIGJAVA) || defined(SWIGCSHARP)
%ignore rc_model_options::quantize;
%ignore rc_model_options::experts_on;
%extend rc_model_options {
  runcible_kept set_quantize(const char* NAME) {
    return keep_text(&owned_of_model($self)->quantize, &$self->quantize, NAME);
  }
  runcible_kept set_experts_on(const char* NAME) {
    return keep_text(&owned_of_model($self)->experts_on, &$self->experts_on,
                     NAME);
  }
}
#else
%typemap(memberin) const char* quantize {
  if (!keep_text(&owned_of_model(arg1)->quantize, (const char**)&$1, $input)) {
    arg1->struct_size = 0;
  }
}
%typemap(memberin) const char* experts_on {
  if (!keep_text(&owned_of_model(arg1)->experts_on, (const char**)&$1,
                 $input)) {
    arg1->struct_size = 0;
  }
}
#endif

%exception rc_model_options::~rc_model_options "$action"
%extend rc_model_options {
  rc_model_options() { return new_model_options(); }
  ~rc_model_options() { free_model_options($self); }
}
