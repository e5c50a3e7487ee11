/* Embeddings and scores: plain arguments in place of options, NULL for a prompt
 * that is not given, and lists of texts as in grammar.i. They are started, and
 * waited for or cancelled, without a loop. */
%ignore rc_embed_options;
%ignore rc_embed_options_init;
%ignore rc_embed;
%ignore rc_embed_async;
%ignore rc_rerank_options;
%ignore rc_rerank_options_init;
%ignore rc_rerank;
%ignore rc_rerank_async;
%apply const char* NAME {
  const char* prompt, const char* prompt_name, const char* query
}
%apply (const float** FLOATS, size_t* ROWS, size_t* COLUMNS) {
  (const float** rows, size_t* count, size_t* columns)
}
%inline %{
static rc_status model_embed(rc_model* model, const text_list* texts,
                             int32_t pooling, int32_t normalize,
                             int64_t dimensions, int32_t truncate,
                             const char* prompt, const char* prompt_name,
                             int32_t priority, int64_t deadline_ms,
                             rc_embedding** embedding) {
  rc_embed_options options = RC_EMBED_OPTIONS_INIT;
  options.pooling = pooling;
  options.normalize = normalize;
  options.dimensions = dimensions;
  options.truncate = truncate;
  options.prompt = prompt;
  options.prompt_name = prompt_name;
  options.priority = priority;
  options.deadline_ms = deadline_ms;
  return rc_embed_async(
      model, texts == NULL ? NULL : (const char* const*)texts->texts, NULL,
      texts == NULL ? 0 : texts->count, &options, NULL, NULL, NULL, embedding);
}

static rc_status model_rerank(rc_model* model, const char* query,
                              const text_list* texts, int32_t raw_scores,
                              int32_t truncate, const char* prompt,
                              int32_t priority, int64_t deadline_ms,
                              rc_embedding** embedding) {
  rc_rerank_options options = RC_RERANK_OPTIONS_INIT;
  options.raw_scores = raw_scores;
  options.truncate = truncate;
  options.prompt = prompt;
  options.priority = priority;
  options.deadline_ms = deadline_ms;
  return rc_rerank_async(
      model, query, query == NULL ? 0 : strlen(query),
      texts == NULL ? NULL : (const char* const*)texts->texts, NULL,
      texts == NULL ? 0 : texts->count, &options, NULL, NULL, NULL, embedding);
}
%}
