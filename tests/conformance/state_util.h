// Ops that carry a state from run to run, in slots of a cache: on every device
// that can do them, with the rows of several sequences mixed, and in several
// runs in place of one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance_util.h"

namespace rc::test {

// The rows of a run: which sequence each belongs to, and the slots that each
// sequence reads (-1: it has no state yet) and writes.
struct StateRows {
  const char* name;
  std::vector<int32_t> sequences;
  std::vector<int32_t> slots;

  int64_t rows() const { return static_cast<int64_t>(sequences.size()); }
  int64_t count() const { return static_cast<int64_t>(slots.size() / 2); }
};
inline constexpr int64_t kStateSlots = 6;
// Returns cases of ten rows: one sequence, or several whose rows are mixed,
// with and without states, whose slot is kept or changed; and single rows.
std::vector<StateRows> state_rows();

// Values for such ops: log(1 + e^x); each value as `change` makes it; and
// decays about -`size`, negative as models have them.
double softplus(double x);
template <class Change>
Data changed(Data data, Change change) {
  auto* plain = reinterpret_cast<float*>(data.bytes.data());
  for (size_t i = 0; i < data.values.size(); ++i) {
    plain[i] = static_cast<float>(change(data.values[i]));
    data.values[i] = plain[i];
  }
  return data;
}
Data decays(int64_t count, double size);

class StateTest {
 public:
  StateTest(std::string op, std::string detail, const StateRows& rows);

  runtime::ProgramBuilder builder;

  // F32 for each row, of a shape that begins with RC_DIM_ROWS.
  runtime::Value input(const runtime::ProgramBuilder::Shape& shape,
                       const Data& data);
  runtime::Value weight(const runtime::ProgramBuilder::Shape& shape,
                        const Data& data);
  runtime::Value cache(const runtime::ProgramBuilder::Shape& shape,
                       const Data& data);
  runtime::Value sequences() const { return sequences_; }
  runtime::Value state_slots() const { return state_slots_; }

  // `output` and what the cache holds afterwards, slots that no sequence writes
  // included: those have to stay as they are, bit for bit. However the rows are
  // cut into runs, both have to be the same, bit for bit.
  void run(runtime::Value output, const std::vector<double>& expected,
           const std::vector<double>& expected_cache, double tolerance);

 private:
  using Bytes = std::vector<std::byte>;
  struct Result {
    Bytes output, cache;
  };
  Result run_cut(runtime::Program& program, runtime::Buffer& cache,
                 const std::vector<int64_t>& cuts) const;
  void check(const std::string& device, runtime::Program& program,
             runtime::Buffer& cache, const std::vector<double>& expected,
             const std::vector<double>& expected_cache, double tolerance) const;
  void check_untouched(const Bytes& cache) const;

  std::string op_;
  std::string detail_;
  const StateRows& rows_;
  runtime::Value sequences_, state_slots_;
  runtime::ProgramDescription description_;
  std::vector<Bytes> inputs_;  // after sequences and state_slots
  std::vector<Bytes> weights_;
  Bytes cache_;
};

}  // namespace rc::test
