/* Calls that may wait, as promises: functions of the library with "_later"
 * appended to their names. A thread of Node's pool waits while the event loop
 * goes on; the arguments are copied or held. */
%{
#include "later.h"

/* Makes a promise of a handle. */
template <typename T>
runcible_later* runcible_later_handle(std::function<rc_status(T**)> call,
                                      swig_type_info* type) {
  using owned = std::unique_ptr<T, void (*)(T*)>;
  runcible_in_use = 1;
  auto made = std::make_shared<owned>(
      nullptr, [](T* handle) { runcible_release(handle); });
  return new runcible_later(
      [call, made] {
        T* handle = nullptr;
        const rc_status status = call(&handle);
        made->reset(handle);
        return status;
      },
      [made, type](Napi::Env env) -> Napi::Value {
        return SWIG_NAPI_NewPointerObj(env, made->release(), type,
                                       SWIG_POINTER_OWN);
      });
}

/* Makes a promise of an array, from memory that the library allocated. */
template <typename Array, typename T>
runcible_later* runcible_later_array(
    std::function<rc_status(T**, size_t*)> call) {
  struct memory {
    T* data = nullptr;
    size_t count = 0;
    ~memory() { rc_free(data); }
  };
  auto made = std::make_shared<memory>();
  return new runcible_later(
      [call, made] { return call(&made->data, &made->count); },
      [made](Napi::Env env) {
        return runcible_array<Array>(env, made->data, made->count);
      });
}

/* Makes a promise of a text that the library allocated. */
static runcible_later* runcible_later_text(
    std::function<rc_status(char**)> call) {
  struct memory {
    char* text = nullptr;
    ~memory() { rc_free(text); }
  };
  auto made = std::make_shared<memory>();
  return new runcible_later([call, made] { return call(&made->text); },
                            [made](Napi::Env env) -> Napi::Value {
                              return Napi::String::New(env, made->text);
                            });
}

/* Makes a promise without a value. */
static runcible_later* runcible_later_nothing(std::function<rc_status()> call) {
  return new runcible_later(
      call, [](Napi::Env env) -> Napi::Value { return env.Undefined(); });
}

/* Tensors, with a reference to each. */
class runcible_tensors {
 public:
  runcible_tensors() = default;
  explicit runcible_tensors(const tensor_list* others) {
    for (size_t i = 0; i < others->count; ++i) {
      held_.push_back(runcible_hold(others->tensors[i]));
      pointers_.push_back(others->tensors[i]);
    }
    list = {pointers_.data(), pointers_.size()};
  }
  runcible_tensors(const runcible_tensors&) = delete;
  runcible_tensors& operator=(const runcible_tensors&) = delete;

  tensor_list list = {};

 private:
  std::vector<std::shared_ptr<rc_tensor>> held_;
  std::vector<rc_tensor*> pointers_;
};

/* Tensors that a call makes. */
struct runcible_made_tensors {
  ~runcible_made_tensors() {
    for (size_t i = 0; i < list.count; ++i) rc_tensor_release(list.tensors[i]);
    free(list.tensors);
  }
  tensor_list list = {};
};

/* Copies a text; NULL stays NULL. */
static std::function<const char*()> runcible_copy(const char* text) {
  if (text == nullptr) return [] { return nullptr; };
  return [copy = std::string(text)] { return copy.c_str(); };
}
%}

%typemap(out) runcible_later* {
  jsresult =
      runcible_later::start(env, std::unique_ptr<runcible_later>($1));
}

class load_state {
 public:
  double fraction() const;
  void cancel();
};

%inline %{
static runcible_later* discover_later() {
  return runcible_later_handle<rc_device_list>(rc_discover,
                                               SWIGTYPE_p_rc_device_list);
}

static runcible_later* backend_open_later(const char* spec,
                                          const rc_backend_options* options,
                                          load_state* state) {
  rc_backend_options copy = *options;
  copy.progress = load_state::on_progress;
  copy.progress_user = state->share().get();
  return runcible_later_handle<rc_backend>(
      [spec = runcible_copy(spec), copy,
       shared = state->share()](rc_backend** made) {
        return rc_backend_open(spec(), &copy, made);
      },
      SWIGTYPE_p_rc_backend);
}

static runcible_later* backend_switch_later(
    rc_backend* backend, const char* spec,
    const rc_backend_switch_options* options, load_state* state) {
  rc_backend_switch_options copy = *options;
  copy.progress = load_state::on_progress;
  copy.progress_user = state->share().get();
  return runcible_later_nothing(
      [backend = runcible_hold(backend), spec = runcible_copy(spec), copy,
       shared = state->share()] {
        return rc_backend_switch(backend.get(), spec(), &copy);
      });
}

static runcible_later* model_load_later(rc_backend* backend, const char* path,
                                        const rc_model_options* options,
                                        load_state* state) {
  rc_model_options copy = *options;
  copy.progress = load_state::on_progress;
  copy.progress_user = state->share().get();
  return runcible_later_handle<rc_model>(
      [backend = runcible_hold(backend), path = runcible_copy(path), copy,
       shared = state->share()](rc_model** made) {
        return rc_model_load(backend.get(), path(), &copy, made);
      },
      SWIGTYPE_p_rc_model);
}

/* Copies the bytes before the event loop goes on, which may change them. */
static runcible_later* model_load_bytes_later(rc_backend* backend,
                                              const void* data, size_t size,
                                              const char* called,
                                              const rc_model_options* options,
                                              load_state* state) {
  rc_model_options copy = *options;
  copy.progress = load_state::on_progress;
  copy.progress_user = state->share().get();
  const char* bytes = static_cast<const char*>(data);
  auto held = std::make_shared<std::vector<char>>(bytes, bytes + size);
  return runcible_later_handle<rc_model>(
      [backend = runcible_hold(backend), held, called = runcible_copy(called),
       copy, shared = state->share()](rc_model** made) {
        rc_model_memory memory =
            memory_of_bytes(held->data(), held->size(), called());
        memory.user = new std::shared_ptr<std::vector<char>>(held);
        memory.release = [](void* user) {
          delete static_cast<std::shared_ptr<std::vector<char>>*>(user);
        };
        return rc_model_load_memory(backend.get(), &memory, &copy, made);
      },
      SWIGTYPE_p_rc_model);
}

static runcible_later* model_plan_later(const char* path,
                                        const rc_model_options* options,
                                        rc_backend* backend) {
  return runcible_later_handle<rc_plan>(
      [path = runcible_copy(path), options = *options,
       backend = runcible_hold(backend)](rc_plan** made) {
        return rc_model_plan(path(), &options, backend.get(), made);
      },
      SWIGTYPE_p_rc_plan);
}

static runcible_later* graph_finish_later(rc_graph* graph,
                                          const tensor_list* outputs) {
  return runcible_later_nothing(
      [graph = runcible_hold(graph),
       held = std::make_shared<runcible_tensors>(outputs)] {
        return graph_finish(graph.get(), &held->list);
      });
}

/* Resolves with an array of tensors. A call cancelled before it began does
   nothing. */
static runcible_later* graph_compute_later(rc_graph* graph,
                                           const tensor_list* inputs,
                                           int64_t deadline_ms,
                                           load_state* state) {
  auto made = std::make_shared<runcible_made_tensors>();
  return new runcible_later(
      [graph = runcible_hold(graph),
       held = std::make_shared<runcible_tensors>(inputs), deadline_ms, made,
       shared = state->share()]() -> rc_status {
        if (shared->cancelled.load()) return RC_E_CANCELLED;
        return graph_compute(graph.get(), &held->list, deadline_ms,
                             &made->list);
      },
      [made](Napi::Env env) -> Napi::Value {
        Napi::Array all = Napi::Array::New(env, made->list.count);
        for (uint32_t i = 0; i < made->list.count; ++i) {
          all[i] = SWIG_NAPI_NewPointerObj(
              env, rc_tensor_retain(made->list.tensors[i]),
              SWIGTYPE_p_rc_tensor, SWIG_POINTER_OWN);
        }
        return all;
      });
}

static runcible_later* model_verify_later(const char* path) {
  return runcible_later_nothing(
      [path = runcible_copy(path)] { return rc_model_verify(path()); });
}

static runcible_later* embedding_wait_later(rc_embedding* embedding) {
  return runcible_later_nothing([embedding = runcible_hold(embedding)] {
    return rc_embedding_wait(embedding.get(), -1);
  });
}

static runcible_later* model_fetch_later(const char* source,
                                         const char* revision,
                                         const char* cache, const char* to) {
  return runcible_later_text(
      [source = runcible_copy(source), revision = runcible_copy(revision),
       cache = runcible_copy(cache), to = runcible_copy(to)](char** path) {
        return model_fetch(source(), revision(), cache(), to(), path);
      });
}

static runcible_later* cached_models_later(const char* cache) {
  return runcible_later_text([cache = runcible_copy(cache)](char** json) {
    return rc_cached_models(cache(), json);
  });
}

static runcible_later* cached_model_remove_later(const char* source,
                                                 const char* cache) {
  return runcible_later_nothing(
      [source = runcible_copy(source), cache = runcible_copy(cache)] {
        return rc_cached_model_remove(source(), cache(), nullptr);
      });
}

static runcible_later* tokenizer_open_later(const char* path) {
  return runcible_later_handle<rc_tokenizer>(
      [path = runcible_copy(path)](rc_tokenizer** made) {
        return rc_tokenizer_open(path(), made);
      },
      SWIGTYPE_p_rc_tokenizer);
}

static runcible_later* grammar_create_later(rc_tokenizer* tokenizer,
                                            rc_grammar_kind kind,
                                            const char* text, size_t length,
                                            const rc_grammar_options* options) {
  return runcible_later_handle<rc_grammar>(
      [tokenizer = runcible_hold(tokenizer), kind,
       copy = std::string(text, length),
       options = *options](rc_grammar** made) {
        return rc_grammar_create(tokenizer.get(), kind, copy.data(),
                                 copy.size(), &options, made);
      },
      SWIGTYPE_p_rc_grammar);
}

static runcible_later* grammar_of_choices_later(rc_tokenizer* tokenizer,
                                                const text_list* choices) {
  return runcible_later_handle<rc_grammar>(
      [tokenizer = runcible_hold(tokenizer),
       copy = std::vector<std::string>(choices->texts,
                                       choices->texts + choices->count)](
          rc_grammar** made) {
        std::vector<const char*> texts;
        for (const std::string& text : copy) texts.push_back(text.c_str());
        return rc_grammar_create_choices(tokenizer.get(), texts.data(),
                                         texts.size(), made);
      },
      SWIGTYPE_p_rc_grammar);
}

static runcible_later* session_append_later(rc_session* session,
                                            const int32_t* tokens,
                                            size_t count) {
  return runcible_later_nothing(
      [session = runcible_hold(session),
       copy = std::vector<int32_t>(tokens, tokens + count)] {
        return rc_session_append(session.get(), copy.data(), copy.size());
      });
}

static runcible_later* session_append_text_later(rc_session* session,
                                                 const char* text,
                                                 size_t length,
                                                 uint32_t flags) {
  return runcible_later_nothing([session = runcible_hold(session),
                                 copy = std::string(text, length), flags] {
    return rc_session_append_text(session.get(), copy.data(), copy.size(),
                                  flags);
  });
}

static runcible_later* session_decode_later(rc_session* session,
                                            uint32_t flags) {
  return runcible_later_nothing([session = runcible_hold(session), flags] {
    return rc_session_decode(session.get(), flags);
  });
}

/* [Float32Array, rows, columns], copied before the session is used again. */
static runcible_later* session_logits_later(rc_session* session) {
  struct numbers {
    std::vector<float> logits;
    size_t rows = 0;
    size_t columns = 0;
  };
  auto made = std::make_shared<numbers>();
  return new runcible_later(
      [session = runcible_hold(session), made] {
        const float* logits = nullptr;
        const rc_status status = rc_session_logits(
            session.get(), &logits, &made->rows, &made->columns);
        if (status == RC_OK) {
          made->logits.assign(logits, logits + made->rows * made->columns);
        }
        return status;
      },
      [made](Napi::Env env) {
        Napi::Value result = runcible_array<Napi::Float32Array>(
            env, made->logits.data(), made->logits.size());
        runcible_append(env, &result,
                        Napi::Number::New(env, double(made->rows)));
        runcible_append(env, &result,
                        Napi::Number::New(env, double(made->columns)));
        return result;
      });
}

static runcible_later* session_restore_later(
    rc_model* model, const char* path, const rc_session_options* options) {
  return runcible_later_handle<rc_session>(
      [model = runcible_hold(model), path = runcible_copy(path),
       options = *options](rc_session** made) {
        return rc_session_restore(model.get(), path(), &options, made);
      },
      SWIGTYPE_p_rc_session);
}

static runcible_later* session_restore_memory_later(
    rc_model* model, const void* data, size_t size,
    const rc_session_options* options) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  return runcible_later_handle<rc_session>(
      [model = runcible_hold(model),
       copy = std::vector<uint8_t>(bytes, bytes + size),
       options = *options](rc_session** made) {
        return rc_session_restore_memory(model.get(), copy.data(), copy.size(),
                                         &options, made);
      },
      SWIGTYPE_p_rc_session);
}
%}

%include "later_calls.i"
