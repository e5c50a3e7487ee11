#include "scenarios.h"

#include <fstream>

#include "test_data.h"

namespace rc::test {
namespace {

std::atomic<const CalledFunction*> g_called{nullptr};

template <class Handle, class Make>
Handle handle_of(const Make& make) {
  typename Handle::pointer handle = nullptr;
  EXPECT_OK(make(&handle));
  return Handle(handle);
}

TensorHandle tensor(rc_backend* backend, uint64_t seed) {
  rc_random_options options = RC_RANDOM_OPTIONS_INIT;
  options.seed = seed;
  options.distribution = RC_RANDOM_UNIFORM;
  return handle_of<TensorHandle>([&](rc_tensor** handle_of) {
    return rc_tensor_random(backend, kShape, 2, &options, handle_of);
  });
}

}  // namespace

void CalledFunction::note() noexcept {
  if (noted_.exchange(true)) return;
  next_ = g_called.load();
  while (!g_called.compare_exchange_weak(next_, this)) {
  }
}

std::vector<std::string> CalledFunction::names() {
  std::vector<std::string> names;
  for (const CalledFunction* at = g_called; at != nullptr; at = at->next_) {
    names.emplace_back(at->name_);
  }
  return names;
}

World::World() {
  std::ofstream(path("config.toml")) << "# all kinds of values\n"
                                        "[backend]\n"
                                        "spec = \"cpu\"\n"
                                        "threads = 1\n"
                                        "[generate]\n"
                                        "temperature = 0.75\n"
                                        "[session]\n"
                                        "when_full = 'error'\n";
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.threads = 1;
  cpu = handle_of<Backend>([&](rc_backend** handle_of) {
    return rc_backend_open("cpu", &options, handle_of);
  });
  reference = open_backend("reference");
  model = handle_of<Model>([&](rc_model** handle_of) {
    rc_model_options load = RC_MODEL_OPTIONS_INIT;
    load.context_length = 64;
    load.takes_embeddings = 1;
    return rc_model_load(cpu.get(), model_path().c_str(), &load, handle_of);
  });
  reference_model = load_model(reference.get());
  tokenizer = handle_of<Tokenizer>([&](rc_tokenizer** handle_of) {
    return rc_model_get_tokenizer(model.get(), handle_of);
  });
  session = create_session(model.get());
  EXPECT_OK(rc_session_append_text(session.get(), "hello", 5, 0));
  EXPECT_OK(rc_session_decode(session.get(), 0));
  loop = handle_of<Loop>(rc_loop_create);
  x = tensor(cpu.get(), 1);
  y = tensor(cpu.get(), 2);
  ones = handle_of<TensorHandle>([&](rc_tensor** handle_of) {
    return rc_tensor_ones(cpu.get(), RC_DTYPE_F32, kShape + 1, 1, handle_of);
  });
  blocks = handle_of<TensorHandle>([&](rc_tensor** handle_of) {
    return rc_op_quantize(x.get(), RC_DTYPE_Q8_0, handle_of);
  });
  const int32_t numbers[] = {3, 1};
  const int64_t count = 2;
  ids = handle_of<TensorHandle>([&](rc_tensor** handle_of) {
    return rc_tensor_from_data(cpu.get(), RC_DTYPE_I32, &count, 1, numbers,
                               sizeof numbers, handle_of);
  });
}

std::vector<Scenario> all_scenarios() {
  std::vector<Scenario> all;
  for (const auto& some :
       {configuration_scenarios(), backend_scenarios(), tensor_scenarios(),
        graph_scenarios(), file_scenarios(), model_scenarios(),
        session_scenarios(), text_scenarios(), measuring_scenarios(),
        fetch_scenarios()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

rc_status await(rc_loop* loop, const End& end) {
  while (end.times == 0) {
    static_cast<void>(RC_CALL(rc_loop_wait)(loop, 60000));
    static_cast<void>(RC_CALL(rc_loop_dispatch)(loop, 0, nullptr));
  }
  EXPECT_EQ(end.times, 1);
  return end.status;
}

}  // namespace rc::test
