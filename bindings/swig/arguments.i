/* Maps arguments of the headers to the few typemaps that each language writes
 * before it includes runcible.i. The language chooses the names in capitals:
 *
 *   runcible_output_handle(T)           a macro: T** is a result, an owned
 *                                       proxy; sets runcible_in_use
 *   (const char* TEXT, size_t LENGTH)   text as UTF-8, or bytes as they are
 *   const char* NAME                    the same without NUL; None etc. is NULL
 *   const char** BORROWED               a result: the text is copied
 *   (const char** BORROWED, size_t* LENGTH)
 *                                       the same with any bytes in it
 *   char** OWNED                        a result: text, freed by rc_free
 *   (char** OWNED, size_t* LENGTH)      a result: bytes, freed by rc_free
 *   (const int32_t* TOKENS, size_t COUNT)
 *   (int32_t** TOKENS, size_t* COUNT)   a result, freed by rc_free
 *   (const void* BYTES, size_t SIZE)
 *   (void** BYTES, size_t* SIZE)        a result, freed by rc_free
 *   (void* ROOM, size_t SIZE)           a result of SIZE bytes; SIZE is given
 *   (const float** FLOATS, size_t* ROWS, size_t* COLUMNS)
 *                                       a result that is copied
 *   (const int64_t* SHAPE, int32_t RANK)
 *   (int64_t* SHAPE, int32_t* RANK)     a result
 *   int32_t* OUTPUT, int64_t* OUTPUT, size_t* OUTPUT   results
 *   rc_event* EVENT, kept_events* EVENTS   results; see events.i
 */
%apply (const char* TEXT, size_t LENGTH) {
  (const char* text, size_t length)
}
%apply const char* NAME {
  const char* spec, const char* path, const char* key, const char* device_id
}
%apply const char** BORROWED {
  const char** json, const char** key, const char** type, const char** device
}
%apply char** OWNED { char** json }
%apply (char** OWNED, size_t* LENGTH) { (char** text, size_t* length) }
%apply (const int32_t* TOKENS, size_t COUNT) {
  (const int32_t* tokens, size_t count)
}
%apply (int32_t** TOKENS, size_t* COUNT) { (int32_t** tokens, size_t* count) }
%apply (const void* BYTES, size_t SIZE) {
  (const void* data, size_t size), (const void* data, size_t bytes)
}
%apply (void** BYTES, size_t* SIZE) { (void** data, size_t* size) }
%apply (void* ROOM, size_t SIZE) { (void* data, size_t bytes) }
%apply (const float** FLOATS, size_t* ROWS, size_t* COLUMNS) {
  (const float** logits, size_t* rows, size_t* vocabulary)
}
%apply (const int64_t* SHAPE, int32_t RANK) {
  (const int64_t* shape, int32_t rank)
}
%apply (int64_t* SHAPE, int32_t* RANK) { (int64_t* shape, int32_t* rank) }
%apply int32_t* OUTPUT {
  rc_dtype* dtype, int32_t* accepted, int32_t* accepting, int32_t* lifted
}
%apply int64_t* OUTPUT { int64_t* position, int64_t* elements }
%apply size_t* OUTPUT { size_t* bytes, size_t* accepted }
