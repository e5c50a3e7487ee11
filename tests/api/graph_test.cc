// Graphs: what they give is what the ops give one by one, to the bit.
#include "graph_util.h"

#include <algorithm>
#include <random>

namespace rc::test {
namespace {

// The same calls on tensors with numbers and on recorded ones: a random graph.
class RandomOps {
 public:
  explicit RandomOps(uint32_t seed) : random_(seed) {}

  // Returns the results for [r, c], [r, c], [c] and [r, 1].
  std::vector<Tensor> operator()(const std::vector<rc_tensor*>& given) {
    tensors_.clear();
    for (rc_tensor* tensor : given) {
      tensors_.emplace_back(rc_tensor_retain(tensor));
    }
    const size_t ops = 5 + random_() % 40;
    while (tensors_.size() < given.size() + ops) add_op();
    std::vector<Tensor> outputs;
    outputs.emplace_back(rc_tensor_retain(tensors_.back().get()));
    for (int i = 0; i < 3; ++i) {
      outputs.emplace_back(
          rc_tensor_retain(tensors_[random_() % tensors_.size()].get()));
    }
    return outputs;
  }

 private:
  // One of those of the whole shape, most often of the last.
  rc_tensor* some() {
    std::vector<rc_tensor*> whole;
    for (const Tensor& tensor : tensors_) {
      if (shape_of(tensor.get()) == shape_of(tensors_[0].get())) {
        whole.push_back(tensor.get());
      }
    }
    const size_t back = random_() % 3 == 0
                            ? random_() % whole.size()
                            : random_() % std::min<size_t>(2, whole.size());
    return whole[whole.size() - 1 - back];
  }
  void keep(rc_status status, rc_tensor* const* tensor) {
    ASSERT_OK(status);
    tensors_.emplace_back(*tensor);
  }
  void add_op() {
    rc_tensor* y = nullptr;
    rc_tensor* a = some();
    rc_tensor* columns = tensors_[2].get();
    rc_tensor* rows = tensors_[3].get();
    switch (random_() % 16) {
      case 0:
        return keep(rc_op_add(a, some(), &y), &y);
      case 1:
        return keep(rc_op_mul(a, columns, &y), &y);
      case 2:
        return keep(rc_op_sub(rows, a, &y), &y);
      case 3:
        return keep(rc_op_tanh(a, &y), &y);
      case 4:
        return keep(rc_op_maximum(a, some(), &y), &y);
      case 5:
        return keep(rc_op_where(rows, a, some(), &y), &y);
      case 6:
        return keep(rc_op_sigmoid(a, &y), &y);
      case 7:
        return keep(rc_op_abs(a, &y), &y);
      case 8: {  // a part of it, again and again
        rc_tensor* part = nullptr;
        const int64_t middle = shape_of(a)[0] / 2;
        ASSERT_OK(rc_tensor_slice(a, 0, middle, middle + 1, 1, &part));
        const Tensor kept(part);
        return keep(rc_op_mul(a, part, &y), &y);
      }
      case 9: {  // with its rows and columns exchanged
        rc_tensor* view = nullptr;
        ASSERT_OK(rc_tensor_transpose(a, 0, 1, &view));
        const Tensor exchanged(view);
        rc_tensor* squares = nullptr;
        ASSERT_OK(rc_op_mul(view, view, &squares));
        const Tensor kept(squares);
        return keep(rc_tensor_transpose(squares, 0, 1, &y), &y);
      }
      case 10: {
        rc_tensor* sum = nullptr;
        ASSERT_OK(rc_op_reduce_mean(a, 1, 1, &sum));
        const Tensor kept(sum);
        return keep(rc_op_sub(a, sum, &y), &y);
      }
      case 11: {  // what becomes one op
        rc_tensor *product = nullptr, *sum = nullptr;
        rc_tensor* square = nullptr;
        ASSERT_OK(rc_op_matmul_transposed(a, some(), &square));  // [r, r]
        const Tensor first(square);
        ASSERT_OK(rc_op_matmul(square, some(), &product));
        const Tensor second(product);
        ASSERT_OK(rc_op_add(product, columns, &sum));
        const Tensor third(sum);
        return keep(rc_op_gelu(sum, &y), &y);
      }
      case 12:
        return keep(rc_op_softmax(a, 1, &y), &y);
      case 13:
        return keep(rc_op_less(a, some(), &y), &y);
      default:
        return keep(rc_op_relu(a, &y), &y);
    }
  }

  std::mt19937 random_;
  std::vector<Tensor> tensors_;
};

TEST(Graph, ResultsEqualThoseOfItsOps) {
  rc_backend_options one = RC_BACKEND_OPTIONS_INIT;
  one.threads = 1;
  rc_backend* alone = nullptr;
  ASSERT_OK(rc_backend_open("cpu", &one, &alone));
  const Backend backends[] = {open_backend("cpu"), Backend(alone),
                              open_backend("reference")};
  const Shape shapes[] = {{1, 1}, {3, 5}, {17, 64}, {70, 333}};
  for (const Backend& backend : backends) {
    for (uint32_t seed = 0; seed < 48; ++seed) {
      SCOPED_TRACE(seed);
      const Shape& shape = shapes[seed % std::size(shapes)];
      const Shape all[] = {shape, shape, {shape[1]}, {shape[0], 1}};
      RecordedGraph graph(backend.get());
      std::vector<rc_tensor*> inputs;
      for (const Shape& input : all) inputs.push_back(graph.input(input));
      // The last one is a constant.
      const Tensor constant = make_random(backend.get(), all[3], seed);
      std::vector<rc_tensor*> recorded = inputs;
      recorded[3] = constant.get();
      graph.end(RandomOps(seed)(recorded));
      for (uint64_t data = 0; data < 3; ++data) {
        std::vector<Tensor> given;
        std::vector<rc_tensor*> handles;
        for (const Shape& input : all) {
          given.push_back(
              make_random(backend.get(), input, 100 * data + given.size()));
          handles.push_back(given.back().get());
        }
        const std::vector<Tensor> found = graph.run(handles);
        handles[3] = constant.get();
        const std::vector<Tensor> expected = RandomOps(seed)(handles);
        ASSERT_EQ(found.size(), expected.size());
        for (size_t i = 0; i < found.size(); ++i) {
          EXPECT_EQ(shape_of(found[i].get()), shape_of(expected[i].get()));
          EXPECT_EQ(hash_of(found[i].get()), hash_of(expected[i].get()));
        }
      }
    }
  }
}

// More values at once than a chain can hold in a cache, and all of them wanted.
TEST(Graph, LongChainsAreComputed) {
  const Backend backend = open_backend("cpu");
  const int64_t count = 5000;
  const Tensor x = make_random(backend.get(), {count}, 1);
  const auto ops = [&](rc_tensor* from, std::vector<Tensor>& kept) {
    rc_tensor* last = from;
    for (int i = 0; i < 40; ++i) {
      rc_tensor* y = nullptr;
      ASSERT_OK(i % 2 == 0 ? rc_op_add(last, from, &y) : rc_op_abs(last, &y));
      kept.emplace_back(y);
      last = y;
    }
    for (size_t i = 0; i < 40; ++i) {  // each is read much later
      rc_tensor* y = nullptr;
      ASSERT_OK(rc_op_mul(kept[i].get(), last, &y));
      kept.emplace_back(y);
      last = y;
    }
  };
  std::vector<Tensor> expected;
  ops(x.get(), expected);
  for (const bool all : {false, true}) {
    RecordedGraph graph(backend.get());
    std::vector<Tensor> recorded;
    ops(graph.input({count}), recorded);
    if (!all) recorded.erase(recorded.begin(), recorded.end() - 1);
    const size_t wanted = recorded.size();
    graph.end(std::move(recorded));
    const std::vector<Tensor> found = graph.run({x.get()});
    ASSERT_EQ(found.size(), wanted);
    for (size_t i = 0; i < wanted; ++i) {
      EXPECT_EQ(hash_of(found[i].get()),
                hash_of(expected[expected.size() - wanted + i].get()));
    }
  }
}

TEST(Graph, ProductsAreFusedWithBiasAndFunction) {
  for (const char* spec : {"cpu", "reference"}) {
    const Backend backend = open_backend(spec);
    const Tensor weight = make(backend.get(), {2, 2}, {1, 2, 3, 4});
    const Tensor bias = make(backend.get(), {2}, {-20, 1});
    RecordedGraph graph(backend.get());
    rc_tensor *product = nullptr, *sum = nullptr, *y = nullptr, *dead = nullptr;
    rc_tensor* x = graph.input({1, 2});
    ASSERT_OK(rc_op_matmul(x, weight.get(), &product));
    ASSERT_OK(rc_op_tanh(x, &dead));  // unused
    ASSERT_OK(rc_op_add(product, bias.get(), &sum));
    ASSERT_OK(rc_op_relu(sum, &y));
    std::vector<Tensor> outputs;
    outputs.emplace_back(y);
    graph.end(std::move(outputs));
    for (rc_tensor* tensor : {product, sum, dead}) rc_tensor_release(tensor);
    rc_graph_report report = RC_GRAPH_REPORT_INIT;
    ASSERT_OK(rc_graph_info(graph.get(), &report));
    EXPECT_EQ(report.inputs, 1u);
    EXPECT_EQ(report.outputs, 1u);
    EXPECT_EQ(report.recorded_ops, 4u);
    EXPECT_EQ(report.ops, 1u);
    const Tensor given = make(backend.get(), {1, 2}, {5, 6});
    EXPECT_EQ(numbers_of(graph.run({given.get()})[0].get()),
              (std::vector<float>{3, 35}));
  }
}

// Everything that can be an output without being what an op has made.
TEST(Graph, InputsViewsAndConstantsCanBeOutputs) {
  const Backend backend = open_backend("cpu");
  const Tensor constant = make(backend.get(), {2}, {7, 8});
  RecordedGraph graph(backend.get());
  rc_tensor* x = graph.input({2, 2});
  rc_tensor* nothing = graph.input({0, 3});
  rc_tensor *y = nullptr, *row = nullptr, *turned = nullptr, *none = nullptr;
  ASSERT_OK(rc_op_neg(x, &y));
  ASSERT_OK(rc_tensor_slice(y, 0, 1, 2, 1, &row));
  ASSERT_OK(rc_tensor_transpose(y, 0, 1, &turned));
  ASSERT_OK(rc_op_neg(nothing, &none));
  std::vector<Tensor> outputs;
  for (rc_tensor* output : {y, row, turned, none}) outputs.emplace_back(output);
  for (rc_tensor* output : {x, y, constant.get()}) {
    outputs.emplace_back(rc_tensor_retain(output));
  }
  graph.end(std::move(outputs));
  const Tensor given = make(backend.get(), {2, 2}, {1, 2, 3, 4});
  const Tensor empty = make(backend.get(), {0, 3}, {});
  const std::vector<Tensor> found = graph.run({given.get(), empty.get()});
  const std::vector<float> expected[] = {
      {-1, -2, -3, -4}, {-3, -4}, {-1, -3, -2, -4}, {}, {1, 2, 3, 4},
      {-1, -2, -3, -4}, {7, 8}};
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(numbers_of(found[i].get()), expected[i]) << i;
  }
  EXPECT_EQ(shape_of(found[3].get()), (Shape{0, 3}));
  // They stay as they are when other numbers come, which may be a view.
  rc_tensor* view = nullptr;
  ASSERT_OK(rc_tensor_transpose(given.get(), 0, 1, &view));
  const Tensor other(view);
  EXPECT_EQ(numbers_of(graph.run({view, empty.get()})[0].get()),
            (std::vector<float>{-1, -3, -2, -4}));
  EXPECT_EQ(numbers_of(found[0].get()), expected[0]);
}

TEST(Graph, MisuseIsRefused) {
  const Backend backend = open_backend("cpu");
  const Backend reference = open_backend("reference");
  RecordedGraph graph(backend.get());
  RecordedGraph other(backend.get());
  rc_tensor* x = graph.input({2, 3});
  rc_tensor* z = other.input({2, 3});
  const Tensor numbers = make(backend.get(), {2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor elsewhere = make(reference.get(), {2, 3}, {1, 2, 3, 4, 5, 6});
  rc_tensor* y = nullptr;
  float data[6];
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_op_matmul(x, numbers.get(), &y),
               "[2, 3]");
  EXPECT_EQ(y, nullptr);
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_op_add(x, z, &y), "two graphs");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_op_add(x, elsewhere.get(), &y),
               "cpu:0", "reference:0");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_tensor_read(x, data, sizeof data),
               "recorded");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_graph_end(graph.get(), &z, 1),
               "outputs[0]", "another graph");
  rc_tensor* given[] = {numbers.get()};
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_graph_run(graph.get(), given, 1, nullptr, &y, 1),
               "still being recorded");
  rc_graph_report report = RC_GRAPH_REPORT_INIT;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_graph_info(graph.get(), &report),
               "still being recorded");
  // A failed op does not affect later ones.
  ASSERT_OK(rc_op_exp(x, &y));
  std::vector<Tensor> outputs;
  outputs.emplace_back(y);
  graph.end(std::move(outputs));
  rc_tensor* found = nullptr;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_op_exp(x, &found), "ended");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_graph_end(graph.get(), &x, 1),
               "ended before");
  const int64_t shape[] = {2};
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_graph_input(graph.get(), RC_DTYPE_F32, shape, 1, &found),
               "ended");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_graph_run(graph.get(), given, 0, nullptr, &found, 1),
               "0 inputs", "with 1");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_graph_run(graph.get(), given, 1, nullptr, nullptr, 0),
               "output_count: 0", "1");
  rc_tensor* wrong[] = {elsewhere.get()};
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_graph_run(graph.get(), wrong, 1, nullptr, &found, 1),
               "inputs[0]", "reference:0", "cpu:0");
  wrong[0] = x;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_graph_run(graph.get(), wrong, 1, nullptr, &found, 1),
               "inputs[0]", "recorded");
  const Tensor small = make(backend.get(), {3}, {1, 2, 3});
  wrong[0] = small.get();
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_graph_run(graph.get(), wrong, 1, nullptr, &found, 1),
               "inputs[0] is F32 [3]", "recorded as F32 [2, 3]");
  rc_graph_run_options options = RC_GRAPH_RUN_OPTIONS_INIT;
  options.deadline_ms = -1;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_graph_run(graph.get(), given, 1, &options, &found, 1),
               "deadline_ms", "-1");
  EXPECT_EQ(found, nullptr);
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_graph_cancel(reinterpret_cast<rc_graph*>(backend.get())),
               "rc_graph");
}

// Errors that depend on numbers are reported by the run; the next run works.
TEST(Graph, RowIdsOutOfRangeFailTheRun) {
  for (const char* spec : {"cpu", "reference"}) {
    const Backend backend = open_backend(spec);
    RecordedGraph graph(backend.get());
    rc_tensor* ids = graph.input({2}, RC_DTYPE_I32);
    const Tensor table = make(backend.get(), {2, 1}, {5, 6});
    rc_tensor* y = nullptr;
    ASSERT_OK(rc_op_gather_rows(table.get(), ids, &y));
    std::vector<Tensor> outputs;
    outputs.emplace_back(y);
    graph.end(std::move(outputs));
    const auto numbers = [&](std::vector<int32_t> values) {
      const int64_t count = 2;
      rc_tensor* tensor = nullptr;
      EXPECT_OK(rc_tensor_from_data(backend.get(), RC_DTYPE_I32, &count, 1,
                                    values.data(), 8, &tensor));
      return Tensor(tensor);
    };
    const Tensor bad = numbers({1, 2});
    const Tensor good = numbers({1, 0});
    rc_tensor* given[] = {bad.get()};
    EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
                 rc_graph_run(graph.get(), given, 1, nullptr, &y, 1), "2");
    EXPECT_EQ(y, nullptr);
    EXPECT_EQ(numbers_of(graph.run({good.get()})[0].get()),
              (std::vector<float>{6, 5}));
  }
}

TEST(Graph, MemoryAndTimeAreChargedToTheHandle) {
  constexpr uint64_t kBytes = 40000;
  const Shape shape = {100, 100};
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.memory_limit = 5 * kBytes;
  rc_backend* opened = nullptr;
  ASSERT_OK(rc_backend_open("cpu", &options, &opened));
  const Backend backend(opened);
  const auto usage = [&] {
    rc_backend_usage_report report = RC_BACKEND_USAGE_REPORT_INIT;
    EXPECT_OK(rc_backend_usage(opened, &report));
    return report;
  };
  {
    const Tensor x = make_random(opened, shape, 1);
    RecordedGraph graph(opened);
    rc_tensor *product = nullptr, *y = nullptr;
    rc_tensor* input = graph.input(shape);
    ASSERT_OK(rc_op_matmul(input, input, &product));
    ASSERT_OK(rc_op_matmul(product, input, &y));
    rc_tensor_release(product);
    std::vector<Tensor> outputs;
    outputs.emplace_back(y);
    EXPECT_EQ(usage().memory, kBytes);
    graph.end(std::move(outputs));
    rc_graph_report report = RC_GRAPH_REPORT_INIT;
    ASSERT_OK(rc_graph_info(graph.get(), &report));
    EXPECT_GE(report.memory, kBytes);
    EXPECT_LT(report.memory, kBytes + 64);
    EXPECT_EQ(usage().memory, kBytes + report.memory);
    std::vector<std::vector<Tensor>> kept;
    for (int i = 0; i < 2; ++i) kept.push_back(graph.run({x.get()}));
    EXPECT_EQ(usage().memory, 3 * kBytes + report.memory);
    rc_tensor* given[] = {x.get()};
    kept.push_back(graph.run({x.get()}));
    EXPECT_FAILS(RC_E_DEVICE_MEMORY,
                 rc_graph_run(graph.get(), given, 1, nullptr, &y, 1), "200000");
    EXPECT_GT(usage().compute_us, 0u);
    EXPECT_EQ(usage().requests, 0u);
  }
  // The freed memory is kept for the next results.
  EXPECT_LE(usage().memory, 4 * kBytes);
}

}  // namespace
}  // namespace rc::test
