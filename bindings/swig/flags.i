/* Members and arguments that are 0 or 1 in C, for languages with a typemap of
 * int32_t FLAG. */
/* :api: flags */
%apply int32_t FLAG { int32_t special, int32_t keep }
