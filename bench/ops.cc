// Single ops on any backend, beside the machine's own limits measured in the
// same run.
//
//   ops [--backend=SPEC] [--threads=N] [Google Benchmark's flags]
//
// "share" is the time that the limits allow over the time taken: for LINEAR
// reading the weights once (read_rate) or multiplying (int8_rate for quantized
// types, half_rate() for F16 and BF16, f32_rate for F32), whichever takes
// longer; for ATTENTION reading the cache once or multiplying in f32. The small
// ops work in caches and have no share. The limits are the host's: shares of a
// GPU mean nothing.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "limits.h"
#include "op_programs.h"
#include "runtime/registry.h"

namespace rc::bench {
namespace {

using benchmark::Counter;
using Clock = std::chrono::steady_clock;

struct Bench {
  std::shared_ptr<runtime::Device> device;
  Limits limits;
};

// The program in use: Google Benchmark calls a function several times while it
// looks for the number of iterations, and making programs takes long.
struct Prepared {
  std::string key;
  std::unique_ptr<OpProgram> program;
};
Prepared prepared;

OpProgram* prepare(benchmark::State& state, const std::string& key,
                   const std::function<std::unique_ptr<OpProgram>()>& make) {
  if (prepared.key == key) return prepared.program.get();
  prepared = {};
  try {
    prepared.program = make();
    prepared.key = key;
  } catch (const std::exception& error) {
    state.SkipWithError(error.what());
  }
  return prepared.program.get();
}

// Runs and reports; `seconds_allowed` is what the limits allow for one run, 0
// if they say nothing.
void measure(benchmark::State& state, OpProgram* program, int64_t rows,
             double seconds_allowed) {
  if (program == nullptr) return;
  program->run(rows);  // touches everything once
  const Clock::time_point begin = Clock::now();
  for (auto _ : state) program->run(rows);
  const double seconds =
      std::chrono::duration<double>(Clock::now() - begin).count() /
      static_cast<double>(state.iterations());
  state.counters["us_per_op"] =
      seconds * 1e6 / static_cast<double>(program->op_count());
  if (seconds_allowed == 0) return;
  state.counters["GB/s"] = program->bytes() * 1e-9 / seconds;
  state.counters["Gop/s"] = program->operations_per_row() *
                            static_cast<double>(rows) * 1e-9 / seconds;
  state.counters["share"] = seconds_allowed / seconds;
}

double seconds_allowed(const Bench& bench, const OpProgram* program,
                       int64_t rows, double arithmetic_rate) {
  if (program == nullptr) return 0;
  const double read = program->bytes() / bench.limits.read_rate;
  if (arithmetic_rate == 0) return read;
  return std::max(read, program->operations_per_row() *
                            static_cast<double>(rows) / arithmetic_rate);
}

void register_linear(const Bench& bench) {
  struct Size {
    int64_t n, k;
  };
  constexpr Size kSizes[] = {{2048, 2048}, {5632, 2048}, {32000, 2048}};
  constexpr DType kTypes[] = {RC_DTYPE_F32,    RC_DTYPE_F16,  RC_DTYPE_BF16,
                              RC_DTYPE_Q8_0,   RC_DTYPE_Q4_0, RC_DTYPE_Q4_K,
                              RC_DTYPE_Q5_K,   RC_DTYPE_Q6_K, RC_DTYPE_Q5_0,
                              RC_DTYPE_IQ4_NL, RC_DTYPE_MXFP4};
  constexpr int64_t kMostRows = 256;
  for (const DType dtype : kTypes) {
    for (const Size size : kSizes) {
      const std::string shape = std::string("linear/") + dtype_name(dtype) +
                                "/" + std::to_string(size.n) + "x" +
                                std::to_string(size.k);
      for (const int64_t rows : {1, 4, 16, 64, 256}) {
        const auto run = [&bench, dtype, size, shape,
                          rows](benchmark::State& state) {
          // Few rows over many weights, many rows over fewer.
          const int64_t most = rows <= 16 ? 16 : kMostRows;
          OpProgram* program =
              prepare(state, shape + "/" + std::to_string(most), [&] {
                return OpProgram::linear(bench.device, dtype, size.n, size.k,
                                         most);
              });
          const bool plain = dtype_info(dtype)->block_size == 1;
          const double rate = dtype == RC_DTYPE_F32 ? bench.limits.f32_rate
                              : plain               ? bench.limits.half_rate()
                                                    : bench.limits.int8_rate;
          measure(state, program, rows,
                  seconds_allowed(bench, program, rows, rate));
        };
        benchmark::RegisterBenchmark(
            (shape + "/rows:" + std::to_string(rows)).c_str(), run)
            ->UseRealTime()
            ->Unit(benchmark::kMillisecond);
      }
    }
  }
}

void register_attention(const Bench& bench) {
  for (const DType dtype : {RC_DTYPE_F16, RC_DTYPE_F32, RC_DTYPE_Q8_0}) {
    for (const int64_t context : {128, 1024, 4096}) {
      const std::string name = std::string("attention/") + dtype_name(dtype) +
                               "/context:" + std::to_string(context);
      for (const int64_t rows : {1, 64}) {
        const auto run = [&bench, dtype, context, name,
                          rows](benchmark::State& state) {
          OpProgram* program = prepare(state, name, [&] {
            // The heads and layers of TinyLlama 1.1B.
            const OpProgram::Attention shape = {dtype, 32, 4, 64, context, 22};
            return OpProgram::attention(bench.device, shape, 64);
          });
          measure(state, program, rows,
                  seconds_allowed(bench, program, rows, bench.limits.f32_rate));
        };
        benchmark::RegisterBenchmark(
            (name + "/rows:" + std::to_string(rows)).c_str(), run)
            ->UseRealTime()
            ->Unit(benchmark::kMillisecond);
      }
    }
  }
}

void register_small(const Bench& bench) {
  struct Case {
    const char* name;
    OpProgram::Small op;
    int64_t width;
  };
  constexpr Case kCases[] = {{"rms_norm", OpProgram::Small::kRmsNorm, 2048},
                             {"rope", OpProgram::Small::kRope, 2048},
                             {"glu", OpProgram::Small::kGlu, 5632}};
  for (const Case& one : kCases) {
    for (const int64_t rows : {1, 64}) {
      const std::string name =
          std::string(one.name) + "/" + std::to_string(one.width);
      const auto run = [&bench, one, name, rows](benchmark::State& state) {
        OpProgram* program = prepare(state, name, [&] {
          return OpProgram::small(bench.device, one.op, one.width, 64, 64);
        });
        measure(state, program, rows, 0);
      };
      benchmark::RegisterBenchmark(
          (name + "/rows:" + std::to_string(rows)).c_str(), run)
          ->UseRealTime()
          ->Unit(benchmark::kMicrosecond);
    }
  }
}

void describe(const Bench& bench) {
  const auto text = [](double value, const char* unit) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, "%.4g %s", value, unit);
    return std::string(buffer);
  };
  const Limits& limits = bench.limits;
  benchmark::AddCustomContext("device", bench.device->id());
  benchmark::AddCustomContext("features", bench.device->info().features);
  benchmark::AddCustomContext("threads", std::to_string(limits.threads));
  benchmark::AddCustomContext("read limit",
                              text(limits.read_rate * 1e-9, "GB/s"));
  benchmark::AddCustomContext(
      "int8 limit",
      text(limits.int8_rate * 1e-9, "Gop/s ") + limits.int8_instruction);
  benchmark::AddCustomContext(
      "f32 limit",
      text(limits.f32_rate * 1e-9, "Gop/s ") + limits.f32_instruction);
}

int run(int argc, char** argv) {
  runtime::Selection selection;
  selection.spec = "cpu";
  benchmark::Initialize(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--backend=")) {
      selection.spec = argument.substr(10);
    } else if (argument.starts_with("--threads=")) {
      selection.device.threads = std::atoi(argv[i] + 10);
    } else {
      std::fprintf(stderr,
                   "usage: ops [--backend=SPEC] [--threads=N] "
                   "[--benchmark_filter=REGEX ...]\n");
      return 2;
    }
  }
  try {
    Bench bench;
    bench.device = runtime::select(selection).device;
    bench.limits = measure_limits(selection.device.threads);
    describe(bench);
    register_linear(bench);
    register_attention(bench);
    register_small(bench);
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    prepared = {};
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ops: %s\n", error.what());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace rc::bench

int main(int argc, char** argv) { return rc::bench::run(argc, argv); }
