/* Calls that may take long run without the interpreter's lock. Another thread
 * may release a handle meanwhile, so the call holds the handles that it uses;
 * HANDLES are the arguments of the function that are handles. */
%define runcible_long(NAME, HANDLES...)
%exception NAME {
  if (runcible_forked) {
    runcible_raise(RC_E_CLOSED, runcible_fork_message);
    RUNCIBLE_FAIL;
  }
  auto run = [&] { $action };
  runcible_without_lock(run, std::make_tuple(HANDLES));
}
%enddef

/* The same for a call that an interrupt ends; see long_calls.h. */
%define runcible_discovering(NAME)
%exception NAME {
  if (runcible_forked) {
    runcible_raise(RC_E_CLOSED, runcible_fork_message);
    RUNCIBLE_FAIL;
  }
  runcible_discovery discovery;
  result = discovery.run(arg1);
  if (result != RC_OK) {
    runcible_raise(result, discovery.message);
    RUNCIBLE_FAIL;
  }
}
%enddef

/* The same for a call whose first argument has the exception that a Ruby
 * function raised meanwhile; see functions.h. */
%define runcible_long_serving(NAME, HANDLES...)
%exception NAME {
  if (runcible_forked) {
    runcible_raise(RC_E_CLOSED, runcible_fork_message);
    RUNCIBLE_FAIL;
  }
  auto run = [&] { $action };
  runcible_without_lock(run, std::make_tuple(HANDLES));
  if (arg1->failure != 0) rb_jump_tag(arg1->failure);
}
%enddef

runcible_discovering(rc_discover)
runcible_long(rc_backend_device, arg1)
runcible_long(rc_backend_trace, arg1)
runcible_long(rc_model_info_open)
runcible_long(rc_model_verify)
runcible_long(model_convert)
runcible_long(model_fetch)
runcible_long(model_quantize)
runcible_long(rc_cached_models)
runcible_long(rc_embedding_wait, arg1)
runcible_long(rc_cached_model_remove)
runcible_long(rc_tokenizer_open)
runcible_long(rc_tokenize, arg1)
runcible_long(rc_detokenize, arg1)
runcible_long(rc_model_plan, arg3)
runcible_long(rc_session_append, arg1)
runcible_long(rc_session_append_text, arg1)
runcible_long(rc_session_append_embeddings, arg1, arg2)
runcible_long(rc_session_decode, arg1)
runcible_long(rc_session_logits, arg1)
runcible_long(rc_session_tokens, arg1)
runcible_long(rc_session_truncate, arg1)
runcible_long(rc_session_fork, arg1)
runcible_long(rc_session_save, arg1)
runcible_long(rc_session_save_memory, arg1)
runcible_long(rc_session_restore, arg1)
runcible_long(rc_session_restore_memory, arg1)
runcible_long(rc_session_migrate, arg1, arg2)
runcible_long(rc_session_move, arg1, arg2)
runcible_long(rc_grammar_create, arg1)
runcible_long(grammar_of_choices, arg1)
runcible_long(rc_chat_create, arg1)
runcible_long(rc_chat_add, arg1)
runcible_long(rc_chat_messages, arg1)
runcible_long(rc_chat_fork, arg1)
runcible_long(mailbox_answer, arg2)

runcible_long(pinned_make, arg1)
runcible_long(rc_tensor_create, arg1)
runcible_long(rc_tensor_from_data, arg1)
runcible_long(rc_tensor_ones, arg1)
runcible_long(rc_tensor_random, arg1)
runcible_long(rc_tensor_outline, arg1)
runcible_long(rc_tensor_to, arg1, arg2)
runcible_long(rc_tensor_read, arg1)
runcible_long(rc_tensor_reshape, arg1)
runcible_long(rc_tensor_slice, arg1)
runcible_long(rc_tensor_transpose, arg1)
runcible_long(rc_op_matmul, arg1, arg2)
runcible_long(rc_op_matmul_transposed, arg1, arg2)
runcible_long(rc_op_matmul_quantized, arg1, arg2)
runcible_long(rc_op_fused_linear, arg1, arg2, arg3)
runcible_long(rc_op_add, arg1, arg2)
runcible_long(rc_op_mul, arg1, arg2)
runcible_long(rc_op_sub, arg1, arg2)
runcible_long(rc_op_div, arg1, arg2)
runcible_long(rc_op_pow, arg1, arg2)
runcible_long(rc_op_minimum, arg1, arg2)
runcible_long(rc_op_maximum, arg1, arg2)
runcible_long(rc_op_equal, arg1, arg2)
runcible_long(rc_op_not_equal, arg1, arg2)
runcible_long(rc_op_less, arg1, arg2)
runcible_long(rc_op_less_equal, arg1, arg2)
runcible_long(rc_op_greater, arg1, arg2)
runcible_long(rc_op_greater_equal, arg1, arg2)
runcible_long(rc_op_where, arg1, arg2, arg3)
runcible_long(rc_op_exp, arg1)
runcible_long(rc_op_log, arg1)
runcible_long(rc_op_sqrt, arg1)
runcible_long(rc_op_abs, arg1)
runcible_long(rc_op_neg, arg1)
runcible_long(rc_op_relu, arg1)
runcible_long(rc_op_sigmoid, arg1)
runcible_long(rc_op_silu, arg1)
runcible_long(rc_op_gelu, arg1)
runcible_long(rc_op_gelu_tanh, arg1)
runcible_long(rc_op_gelu_quick, arg1)
runcible_long(rc_op_tanh, arg1)
runcible_long(rc_op_softmax, arg1)
runcible_long(rc_op_rms_norm, arg1, arg2)
runcible_long(rc_op_layer_norm, arg1, arg2, arg3)
runcible_long(rc_op_rope, arg1, arg2, arg3)
runcible_long(rc_op_attention, arg1, arg2, arg3)
runcible_long(rc_op_reduce_sum, arg1)
runcible_long(rc_op_reduce_mean, arg1)
runcible_long(rc_op_reduce_max, arg1)
runcible_long(rc_op_pad, arg1)
runcible_long(rc_op_cumsum, arg1)
runcible_long(rc_op_sort, arg1)
runcible_long(rc_op_argsort, arg1)
runcible_long(rc_op_topk, arg1)
runcible_long(rc_op_argtopk, arg1)
runcible_long(rc_op_take_along, arg1, arg2)
runcible_long(rc_op_argmax, arg1)
runcible_long(rc_op_conv2d, arg1, arg2, arg3)
runcible_long(rc_op_gather_rows, arg1, arg2)
runcible_long(rc_op_quantize, arg1)
runcible_long(rc_op_dequantize, arg1)

runcible_long(graph_finish, arg1)
runcible_long_serving(graph_compute_serving, arg2)
runcible_long_serving(custom_op_compute_serving, arg2)

/* Not needed: requests post to mailboxes, and loading reports its progress. */
%ignore graph_compute;
%ignore custom_op_compute;
%ignore request_start;
%ignore answer_start;
%ignore mailbox_wait;
%ignore request_next;
%ignore rc_request_wait;
%ignore rc_model_load;
%ignore rc_backend_open;
%ignore rc_backend_switch;
