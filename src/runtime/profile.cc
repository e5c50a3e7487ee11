#include "runtime/profile.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <limits>

#include "base/error.h"
#include "runtime/program.h"

namespace rc::runtime {
namespace {

bool is_weight(const rc_plugin_value& value) {
  return value.storage == RC_STORAGE_WEIGHT;
}

// In JSON. Names are those of ops and of tensors that architectures ask for:
// nothing in them needs escaping, nor in details.
std::string microseconds(int64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%" PRId64 ".%03" PRId64, ns / 1000,
                ns % 1000);
  return text;
}

std::string event(const OpRecord& record, size_t row, int64_t origin) {
  const auto op = static_cast<size_t>(record.op);
  const OpList& ops = *record.ops;
  const OpList::Entry& entry = ops.entry(op);
  return cat("{\"name\":\"", entry.name, "\",\"cat\":\"op\",\"ph\":\"X\",",
             "\"pid\":1,\"tid\":", row,
             ",\"ts\":", microseconds(record.begin_ns - origin),
             ",\"dur\":", microseconds(record.end_ns - record.begin_ns),
             ",\"args\":{\"part\":\"", entry.part, "\",\"weight\":\"",
             entry.weight, "\",\"detail\":\"", entry.detail,
             "\",\"rows\":", record.rows.rows,
             ",\"bytes\":", ops.bytes(op, record.rows),
             ",\"operations\":", ops.operations(op, record.rows), "}}");
}

std::string row_name(const std::string& device, size_t row) {
  return cat("{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":", row,
             ",\"args\":{\"name\":\"", device, "\"}}");
}

}  // namespace

OpList::OpList(const ProgramDescription& description)
    : values_(description.values), ops_(description.ops) {
  for (size_t i = 0; i < ops_.size(); ++i) {
    const Op& op = ops_[i];
    // The weight says most; without one, what comes out or goes in.
    int32_t shown = op.outputs[0] >= 0 ? op.outputs[0] : op.inputs[0];
    for (int32_t input : op.inputs) {
      if (input >= 0 && is_weight(values_[input]) && values_[input].rank > 1) {
        shown = input;
        break;
      }
    }
    const WeightInfo* weight = description.weight_of(i);
    entries_.push_back(
        {op_name(op.code), shown >= 0 ? value_text(values_[shown]) : "",
         description.part_name(i), weight == nullptr ? "" : weight->name});
  }
}

uint64_t OpList::bytes(size_t number, const Rows& rows) const {
  const Op& op = ops_[number];
  uint64_t total = 0;
  const auto add = [&](int32_t value) {
    if (value < 0 || values_[value].storage == RC_STORAGE_CACHE) return;
    total += value_bytes(values_[value], rows).value_or(0);
  };
  for (int32_t input : op.inputs) add(input);
  for (int32_t output : op.outputs) add(output);
  // Of a table and of experts only what is asked for.
  const bool table = op.code == RC_OP_GET_ROWS &&
                     values_[op.inputs[0]].storage != RC_STORAGE_CACHE;
  if (table || op.code == RC_OP_EXPERT_LINEAR) {
    const rc_plugin_value& weight = values_[op.inputs[table ? 0 : 1]];
    const rc_plugin_value& ids = values_[op.inputs[table ? 1 : 2]];
    const uint64_t whole = value_bytes(weight, rows).value_or(0);
    const auto parts = static_cast<uint64_t>(
        std::max<int64_t>(resolve_dimension(weight.shape[0], rows), 1));
    const uint64_t asked = value_bytes(ids, rows).value_or(0) / sizeof(int32_t);
    total -= whole - whole / parts * std::min(parts, asked);
  }
  return total;
}

uint64_t OpList::operations(size_t number, const Rows& rows) const {
  const Op& op = ops_[number];
  if (op.code != RC_OP_LINEAR && op.code != RC_OP_EXPERT_LINEAR) return 0;
  const rc_plugin_value& weight = values_[op.inputs[1]];
  const uint64_t results =
      value_bytes(values_[op.outputs[0]], rows).value_or(0) / sizeof(float);
  return 2 * results * static_cast<uint64_t>(weight.shape[weight.rank - 1]);
}

namespace {

// Never destroyed: devices may outlive static objects.
struct List {
  std::mutex mutex;
  std::vector<std::weak_ptr<Profile>> profiles;
};
List& list() {
  static List* only = new List;
  return *only;
}

}  // namespace

std::shared_ptr<Profile> Profile::create(std::string device) {
  const std::shared_ptr<Profile> made(new Profile(std::move(device)));
  const std::lock_guard lock(list().mutex);
  std::erase_if(list().profiles, [](const auto& p) { return p.expired(); });
  list().profiles.push_back(made);
  return made;
}

std::vector<std::shared_ptr<Profile>> Profile::all() {
  std::vector<std::shared_ptr<Profile>> living;
  const std::lock_guard lock(list().mutex);
  for (const auto& known : list().profiles) {
    if (auto profile = known.lock()) living.push_back(std::move(profile));
  }
  return living;
}

void Profile::add(const std::shared_ptr<const OpList>& ops, const Rows& rows,
                  int64_t start_ns,
                  const std::vector<rc_plugin_op_time>& times) {
  const std::lock_guard lock(mutex_);
  for (const rc_plugin_op_time& time : times) {
    // A plugin may report nonsense.
    if (time.op < 0 || static_cast<size_t>(time.op) >= ops->size() ||
        time.end_ns < time.begin_ns) {
      continue;
    }
    const int64_t shift = start_ns - times.front().begin_ns;
    records_.push_back({ops, static_cast<int32_t>(time.op), rows,
                        time.begin_ns + shift, time.end_ns + shift});
    if (records_.size() > kMostRecords) records_.pop_front();
  }
}

std::vector<OpRecord> Profile::records() const {
  const std::lock_guard lock(mutex_);
  return {records_.begin(), records_.end()};
}

std::string trace_json(const std::vector<std::shared_ptr<Profile>>& profiles) {
  std::vector<std::vector<OpRecord>> records;
  int64_t origin = std::numeric_limits<int64_t>::max();
  for (const auto& profile : profiles) {
    records.push_back(profile->records());
    for (const OpRecord& record : records.back()) {
      origin = std::min(origin, record.begin_ns);
    }
  }
  std::string text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
  for (size_t row = 0; row < profiles.size(); ++row) {
    if (row > 0) text += ",";
    text += "\n" + row_name(profiles[row]->device(), row);
    for (const OpRecord& record : records[row]) {
      text += ",\n" + event(record, row, origin);
    }
  }
  return text + "\n]}\n";
}

}  // namespace rc::runtime
