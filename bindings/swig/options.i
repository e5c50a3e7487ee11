/* Options that have texts and handles, with the memory of them: texts are copied
 * and freed with the object, which keeps its handles. */
%{
#define RUNCIBLE_OWNED(TYPE, OPTIONS) ((owned_ ## TYPE*)(OPTIONS))

/* Defines the functions that make and free options. The options come first in
 * the struct that owns them, so that a pointer to one is a pointer to the other.
 */
#define RUNCIBLE_OWNED_OPTIONS(TYPE)                                    \
  static rc_ ## TYPE* new_ ## TYPE(void) {                              \
    owned_ ## TYPE* owned = (owned_ ## TYPE*)calloc(1, sizeof(*owned)); \
    if (owned == NULL) return NULL;                                     \
    rc_ ## TYPE ## _init(&owned->options, sizeof(owned->options));      \
    return &owned->options;                                             \
  }                                                                     \
  static void free_ ## TYPE(rc_ ## TYPE* options) {                     \
    if (options == NULL) return;                                        \
    free_members_of_ ## TYPE(RUNCIBLE_OWNED(TYPE, options));            \
    free(options);                                                      \
  }
%}

%define runcible_owned_options(TYPE)
%exception rc_ ## TYPE::~rc_ ## TYPE "$action"
%extend rc_ ## TYPE {
  rc_ ## TYPE() { return new_ ## TYPE(); }
  ~rc_ ## TYPE() { free_ ## TYPE($self); }
}
%enddef

/* Set like the texts in generate_options.i. */
#if defined(SWIGJAVA) || defined(SWIGCSHARP) || defined(SWIGGO)
%define runcible_owned_text(TYPE, MEMBER)
%ignore rc_ ## TYPE::MEMBER;
%extend rc_ ## TYPE {
  runcible_kept set_ ## MEMBER(const char* NAME) {
    return keep_text(&RUNCIBLE_OWNED(TYPE, $self)->MEMBER, &$self->MEMBER,
                     NAME);
  }
}
%enddef
#else
%define runcible_owned_text(TYPE, MEMBER)
%apply const char* NAME { const char* MEMBER }
%typemap(memberin) const char* MEMBER {
  if (!keep_text(&RUNCIBLE_OWNED(TYPE, arg1)->MEMBER, (const char**)&$1,
                 $input)) {
    arg1->struct_size = 0;
  }
}
%enddef
#endif

/* An invalid handle is reported when the options are used. */
%define runcible_owned_handle(TYPE, MEMBER)
%ignore rc_ ## TYPE::MEMBER;
%extend rc_ ## TYPE {
  void set_ ## MEMBER(rc_ ## MEMBER* MEMBER) {
    rc_ ## MEMBER* kept =
        MEMBER == NULL ? NULL : rc_ ## MEMBER ## _retain(MEMBER);
    rc_ ## MEMBER ## _release(RUNCIBLE_OWNED(TYPE, $self)->MEMBER);
    RUNCIBLE_OWNED(TYPE, $self)->MEMBER = kept;
    $self->MEMBER = MEMBER;
  }
}
%enddef

/* :api: owned_options */
