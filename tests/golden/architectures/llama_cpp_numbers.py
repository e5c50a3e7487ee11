"""What llama.cpp makes of a file: F32 caches, no flash attention, one thread. Needs llama-cpp-python."""

import ctypes

import llama_cpp
import numpy as np

F32 = 0


@llama_cpp.llama_log_callback
def be_quiet(level, text, data):
    pass


def numbers(path, tokens, width, encoder):
    """[tokens, width]: logits, or of an encoder the rows of the last layer."""
    llama_cpp.llama_log_set(be_quiet, ctypes.c_void_p(0))
    model_params = llama_cpp.llama_model_default_params()
    model_params.n_gpu_layers = 0
    model = llama_cpp.llama_model_load_from_file(str(path).encode(), model_params)
    assert model, path
    params = llama_cpp.llama_context_default_params()
    params.n_ctx = params.n_batch = params.n_ubatch = 256
    params.n_threads = params.n_threads_batch = 1
    params.type_k = params.type_v = F32
    params.flash_attn_type = llama_cpp.LLAMA_FLASH_ATTN_TYPE_DISABLED
    if encoder:
        params.embeddings, params.pooling_type = True, llama_cpp.LLAMA_POOLING_TYPE_NONE
    context = llama_cpp.llama_init_from_model(model, params)
    assert context, path
    batch = llama_cpp.llama_batch_init(len(tokens), 0, 1)
    batch.n_tokens = len(tokens)
    for i, token in enumerate(tokens):
        batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.logits[i] = token, i, 1, True
        batch.seq_id[i][0] = 0
    status = llama_cpp.llama_encode(context, batch) if encoder else llama_cpp.llama_decode(context, batch)
    assert status == 0, (path, status)
    read = llama_cpp.llama_get_embeddings_ith if encoder else llama_cpp.llama_get_logits_ith
    rows = np.stack([np.ctypeslib.as_array(read(context, i), shape=(width,)).copy() for i in range(len(tokens))])
    llama_cpp.llama_free(context)
    llama_cpp.llama_model_free(model)
    return rows.astype(np.float64)
