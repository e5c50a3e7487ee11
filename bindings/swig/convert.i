/* Converting and quantizing models: plain texts in place of options, empty if
 * not given; types of tensors as text with one type per line. */
%ignore rc_conversion_type;
%ignore rc_model_convert;
%ignore rc_model_convert_async;
%ignore rc_quantize_options;
%ignore rc_quantize_options::type; /* a keyword of Go */
%ignore rc_model_quantize;
%ignore rc_model_quantize_async;
%apply const char* NAME {
  const char* source, const char* target, const char* weight_type,
  const char* importance, const char* tensors
}
%inline %{
static rc_status model_convert(const char* source, const char* target,
                               const char* weight_type) {
  return rc_model_convert(source, target,
                          *weight_type == '\0' ? NULL : weight_type, NULL,
                          NULL);
}

static rc_status model_quantize(const char* source, const char* target,
                                const char* weight_type, const char* importance,
                                const char* tensors, int32_t threads) {
  rc_quantize_options options = RC_QUANTIZE_OPTIONS_INIT;
  enum { kMost = 256 };
  const char* lines[kMost];
  const size_t length = strlen(tensors);
  char* copy = (char*)malloc(length + 1);
  rc_status status;
  size_t i;
  if (copy == NULL) return RC_E_OUT_OF_MEMORY;
  memcpy(copy, tensors, length + 1);
  /* The library rejects longer lists than it reads; see rc_quantize_options. */
  for (i = 0; i < length; ++i) {
    if (copy[i] == '\n') continue;
    if (options.tensor_count < kMost) lines[options.tensor_count] = copy + i;
    ++options.tensor_count;
    while (i < length && copy[i] != '\n') ++i;
    copy[i] = '\0';
  }
  options.type = weight_type;
  if (*importance != '\0') options.importance = importance;
  options.tensors = lines;
  options.threads = threads;
  status = rc_model_quantize(source, target, &options);
  free(copy);
  return status;
}
%}
