/* Names: rc_model_load is model_load and RC_E_IO is E_IO. Functions that a
 * language must not use are left out: the proxies count references, and queues
 * replace callbacks. */
%rename("%(regex:/^(rc|RC)_(.*)/\\2/)s") "";

%rename("$ignore", regexmatch$name="^rc_.*_(retain|release|init)$") "";
%rename("$ignore", regexmatch$name="_INIT$") "";
%ignore rc_free;
%ignore struct_size;

/* See events.i. */
%ignore rc_generate;
%ignore rc_generate_async;
%ignore rc_loop;
%ignore rc_loop_uv;
%ignore rc_loop_create;
%ignore rc_loop_fd;
%ignore rc_loop_handle;
%ignore rc_loop_handle_kind;
%ignore rc_loop_dispatch;
%ignore rc_loop_wait;
%ignore rc_loop_close;
%ignore rc_model_load_async;
%ignore rc_backend_open_async;
%ignore rc_discover_async;
%ignore rc_backend_switch_async;
%ignore rc_backend_switch_options::progress;
%ignore rc_backend_switch_options::progress_user;
%ignore rc_session_decode_async;
%ignore rc_session_move_async;
%ignore rc_tokenize_async;
%ignore rc_tensor_to_async;
%ignore rc_tensor_borrow;
%ignore rc_tensor_memory;
%ignore rc_pinned_create;
%ignore rc_pinned_memory;
%ignore rc_calibrate;
%ignore rc_device_test;
%ignore rc_log_set;
%ignore rc_backend_options::progress;
%ignore rc_backend_options::progress_user;
/* A member of exceptions. */
%ignore rc_error_retry_after_ms;
%ignore rc_model_options::progress;
%ignore rc_model_options::progress_user;

/* Arrays in their arguments have no typemap. */
%ignore rc_grammar_matcher_mask;
%ignore rc_op_concat;
/* See grammar.i. */
%ignore rc_grammar_create_choices;

/* Macros of C that SWIG does not need. */
%ignore RC_API;
%ignore RC_SEED_RANDOM;
%ignore RC_UNSET_INT32;
%ignore RC_UNSET_INT64;
%ignore RC_UNSET_UINT64;
%ignore RC_UNSET_FLOAT;
%ignore RC_INITIAL;
%ignore RC_ALL_DIMENSIONS;
%ignore RC_ABI_CHECK;
