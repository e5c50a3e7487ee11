/* Fetching models: plain texts in place of options, empty if not given. */
%ignore rc_fetch_options;
%ignore rc_model_fetch;
%ignore rc_model_fetch_async;
%apply const char* NAME {
  const char* source, const char* revision, const char* cache, const char* to
}
%apply char** OWNED { char** path }
%apply size_t* OUTPUT { size_t* freed }
%inline %{
static rc_status model_fetch(const char* source, const char* revision,
                             const char* cache, const char* to, char** path) {
  rc_fetch_options options = RC_FETCH_OPTIONS_INIT;
  if (revision != NULL && *revision != '\0') options.revision = revision;
  if (cache != NULL && *cache != '\0') options.cache = cache;
  if (to != NULL && *to != '\0') options.to = to;
  return rc_model_fetch(source, &options, path);
}
%}
