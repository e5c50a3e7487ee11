#include "vulkan/dispatch.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "vulkan/loops.h"
#include "vulkan/tensor_dispatch.h"
#include "vulkan/words.h"

namespace rc::vulkan {
namespace {

constexpr uint32_t kCacheRanges = 4;  // that ATTENTION binds

// Elements of one row of a value.
int64_t width_of(const rc_plugin_value& value) {
  int64_t width = 1;
  for (int i = 1; i < value.rank; ++i) width *= value.shape[i];
  return width;
}

uint64_t row_bytes_of(const rc_plugin_value& value) {
  return static_cast<uint64_t>(width_of(value)) * 4;
}

uint32_t type_number(DType dtype) {
  return dtype == RC_DTYPE_F32 ? 0 : dtype == RC_DTYPE_F16 ? 1 : 2;
}

// A cache in ranges of whole pages that can be bound.
struct CacheRanges {
  uint64_t page_bytes;
  uint64_t pages;  // of each range but the last
  uint64_t count;
};

CacheRanges ranges_of(const Device& device, const rc_plugin_value& cache) {
  CacheRanges ranges = {};
  ranges.page_bytes = *row_bytes(cache.dtype, cache.shape[3]) *
                      static_cast<uint64_t>(cache.shape[1] * cache.shape[2]);
  const auto all = static_cast<uint64_t>(cache.shape[0]);
  const uint64_t limit = device.tuning().range;
  ranges.pages = std::min(limit / ranges.page_bytes, all);
  if (ranges.pages < all) {
    const uint64_t step =
        device.alignment() / std::gcd(device.alignment(), ranges.page_bytes);
    ranges.pages = ranges.pages / step * step;
  }
  ranges.count =
      ranges.pages == 0 ? UINT64_MAX : (all + ranges.pages - 1) / ranges.pages;
  return ranges;
}

// Appends the dispatches of one op.
class Appender {
 public:
  Appender(Device& device, const Op& op, int32_t number,
           std::span<const Placed> values, const Rows& limits,
           std::vector<Dispatch>* dispatches)
      : device_(device),
        tuning_(device.tuning()),
        op_(op),
        number_(number),
        values_(values),
        limits_(limits),
        dispatches_(dispatches) {}

  void run();

 private:
  struct Piece {
    uint32_t symbol, first, limit;
  };

  const Placed& in(int slot) const { return values_[op_.inputs[slot]]; }
  const Placed& out(int slot) const { return values_[op_.outputs[slot]]; }
  bool has(int slot) const { return op_.inputs[slot] >= 0; }

  // The rows of `like` in pieces that can be bound for all of `values`.
  std::vector<Piece> pieces(const Placed& like,
                            std::initializer_list<const Placed*> values) const;
  // The rows of a piece of a value with rows.
  Region part(const Placed& placed, const Piece& piece) const;

  Dispatch& append(Shader shader, std::vector<uint32_t> constants,
                   const Piece& piece, std::vector<uint32_t> parameters);
  // Binds a value's rows of the piece.
  void bind(Dispatch& dispatch, uint32_t slot, const Placed& placed,
            const Piece& piece, bool quads = false) const;
  void bind_weight(Dispatch& dispatch, const Weight::Piece& piece) const;
  // Gives it so many work-groups within a row; see COLUMN_GROUP of
  // shaders/common.glsl.
  void spread(Dispatch& dispatch, uint32_t groups) const;

  std::vector<uint32_t> format_constants(const Weight& weight,
                                         uint32_t lanes) const;

  void get_rows();
  void copy_rows();
  void rms_norm();
  void linear();
  void rope();
  void cache_store();
  void attention();
  void elementwise(uint32_t kind, float factor, bool two);
  void route();
  void expert_sum();

  Device& device_;
  const Tuning& tuning_;
  const Op& op_;
  int32_t number_;
  std::span<const Placed> values_;
  const Rows& limits_;
  std::vector<Dispatch>* dispatches_;
};

std::vector<Appender::Piece> Appender::pieces(
    const Placed& like, std::initializer_list<const Placed*> values) const {
  const int64_t symbol = like.value.shape[0];
  const auto all = static_cast<uint64_t>(resolve_dimension(symbol, limits_));
  uint64_t rows = std::min<uint64_t>(all, device_.most_groups(1));
  uint64_t step = 1;
  for (const Placed* placed : values) {
    const uint64_t bytes = row_bytes_of(placed->value);
    rows = std::min(rows, tuning_.range / bytes);
    // Powers of two all, so that the largest is a multiple of the others.
    step = std::max(step,
                    device_.alignment() / std::gcd(device_.alignment(), bytes));
  }
  if (rows < all) rows = rows / step * step;
  if (rows == 0 && all > 0) {
    fail(RC_E_UNSUPPORTED, op_name(op_.code), ": ", step,
         " rows of its values cannot be bound; the device allows ",
         tuning_.range, " bytes");
  }
  std::vector<Piece> found;
  for (uint64_t first = 0; first < all; first += rows) {
    found.push_back({symbol == RC_DIM_OUTPUTS ? 1u : 0u,
                     static_cast<uint32_t>(first),
                     static_cast<uint32_t>(std::min(rows, all - first))});
  }
  return found;
}

Region Appender::part(const Placed& placed, const Piece& piece) const {
  const uint64_t bytes = row_bytes_of(placed.value);
  return {placed.region.buffer, placed.region.offset + piece.first * bytes,
          piece.limit * bytes};
}

Dispatch& Appender::append(Shader shader, std::vector<uint32_t> constants,
                           const Piece& piece,
                           std::vector<uint32_t> parameters) {
  Dispatch dispatch = {};
  dispatch.op = number_;
  dispatch.shader = shader;
  dispatch.constants = std::move(constants);
  dispatch.parameters = {piece.symbol, piece.first, piece.limit};
  dispatch.parameters.insert(dispatch.parameters.end(), parameters.begin(),
                             parameters.end());
  dispatch.rows.symbol = piece.symbol;
  dispatch.rows.first = piece.first;
  dispatch.rows.limit = piece.limit;
  dispatches_->push_back(std::move(dispatch));
  return dispatches_->back();
}

void Appender::bind(Dispatch& dispatch, uint32_t slot, const Placed& placed,
                    const Piece& piece, bool quads) const {
  if (placed.weight != nullptr) {
    const Buffer& buffer = placed.weight->pieces[0].buffer;
    dispatch.bindings.push_back({slot, {&buffer, 0, buffer.bytes()}, quads});
  } else {
    dispatch.bindings.push_back({slot, part(placed, piece), quads});
  }
}

void Appender::bind_weight(Dispatch& dispatch,
                           const Weight::Piece& piece) const {
  const Region region = {&piece.buffer, 0, piece.buffer.bytes()};
  dispatch.bindings.push_back({3, region, false});
  dispatch.bindings.push_back({4, region, true});
}

void Appender::spread(Dispatch& dispatch, uint32_t groups) const {
  dispatch.z = divided(groups, device_.most_groups(0));
  dispatch.x = divided(groups, dispatch.z);
}

std::vector<uint32_t> Appender::format_constants(const Weight& weight,
                                                 uint32_t lanes) const {
  const Tile& tile = weight.layout.tile;
  const Format& format = *tile.format;
  return {lanes,
          static_cast<uint32_t>(tile.rows),
          format.bits,
          format.low_plane,
          format.high_plane,
          format.scaling,
          static_cast<uint32_t>(format.zero),
          format.meaning};
}

void Appender::get_rows() {
  const Weight& weight = *in(0).weight;
  const WeightLayout& layout = weight.layout;
  const auto groups = static_cast<uint32_t>(layout.tile.groups);
  for (const Piece& piece : pieces(out(0), {&in(1), &out(0)})) {
    for (const Weight::Piece& tiles : weight.pieces) {
      Dispatch& d = append(Shader::kGetRows,
                           format_constants(weight, tuning_.plain), piece,
                           {narrow(layout.rows), narrow(layout.columns), groups,
                            static_cast<uint32_t>(tiles.first_tile),
                            static_cast<uint32_t>(tiles.tiles)});
      bind(d, 1, in(1), piece);
      bind_weight(d, tiles);
      bind(d, 8, out(0), piece);
      spread(d, divided(groups, tuning_.plain));
    }
  }
}

void Appender::copy_rows() {
  const uint32_t width = narrow(width_of(out(0).value));
  for (const Piece& piece : pieces(out(0), {&in(1), &out(0)})) {
    for (const Piece& table : pieces(in(0), {&in(0)})) {
      Dispatch& d = append(Shader::kCopyRows, {tuning_.plain}, piece,
                           {width, table.symbol, table.first, table.limit});
      bind(d, 1, in(1), piece);
      bind(d, 2, in(0), table);
      bind(d, 8, out(0), piece);
      spread(d, divided(width, tuning_.plain));
    }
  }
}

void Appender::rms_norm() {
  const rc_plugin_value& x = in(0).value;
  for (const Piece& piece : pieces(in(0), {&in(0), &out(0)})) {
    Dispatch& d =
        append(Shader::kRmsNorm, {tuning_.reduce}, piece,
               {narrow(x.shape[x.rank - 1]), word(op_.params.norm.epsilon)});
    bind(d, 1, in(0), piece);
    bind(d, 2, in(1), piece);
    bind(d, 8, out(0), piece);
    d.x = x.rank == 3 ? narrow(x.shape[1]) : 1;
  }
}

// LINEAR and EXPERT_LINEAR.
void Appender::linear() {
  const bool experts = op_.code == RC_OP_EXPERT_LINEAR;
  const Placed& x = in(0);
  const Weight& weight = *in(1).weight;
  const WeightLayout& layout = weight.layout;
  const uint32_t n = narrow(layout.rows);
  const uint32_t k = narrow(layout.columns);
  const auto tiles = static_cast<uint32_t>(layout.tiles);
  const uint32_t chosen = experts ? narrow(in(2).value.shape[1]) : 1;
  const bool bias = !experts && has(2);
  const bool residual = !experts && has(3);

  std::vector<Piece> row_pieces;
  if (experts) {
    row_pieces = pieces(x, {&x, &in(2), &out(0)});
  } else if (residual) {
    row_pieces = pieces(x, {&x, &in(3), &out(0)});
  } else {
    row_pieces = pieces(x, {&x, &out(0)});
  }
  const auto one = [&](const Piece& piece, const Weight::Piece& part,
                       bool many) {
    const uint32_t batch = many ? tuning_.batch : 1;
    const uint32_t group_tiles = experts ? 1
                                 : many  ? tuning_.batch_tiles
                                         : tuning_.tiles;
    std::vector<uint32_t> constants =
        format_constants(weight, tuning_.tile * tuning_.parts);
    constants.insert(constants.end(),
                     {batch, group_tiles, experts, k % 4 == 0, k % 32 != 0,
                      tuning_.parts, tuning_.chunk});
    Dispatch& d = append(Shader::kLinear, std::move(constants), piece,
                         {n, k, static_cast<uint32_t>(layout.tile.groups),
                          static_cast<uint32_t>(part.first_tile),
                          static_cast<uint32_t>(part.tiles), tiles,
                          static_cast<uint32_t>(layout.matrices), chosen,
                          x.value.rank == 3, bias, residual});
    bind(d, 1, x, piece);
    // What is not read is bound all the same: it is named in the shader.
    bind(d, 2, x, piece, true);
    bind_weight(d, part);
    bind(d, 5, bias ? in(2) : x, piece);
    bind(d, 6, residual ? in(3) : x, piece);
    bind(d, 7, experts ? in(2) : x, piece);
    bind(d, 8, out(0), piece);
    d.x = divided(experts ? tiles : part.tiles, group_tiles);
    d.z = chosen;
    d.batch = batch;
    d.row_work = static_cast<double>(part.tiles) /
                 static_cast<double>(layout.matrices) * chosen *
                 static_cast<double>(tuning_.tile) * k;
    if (experts) return;
    if (many) {
      d.rows.at_least = tuning_.few + 1;
    } else {
      d.rows.at_most = tuning_.few;
    }
  };
  for (const Piece& piece : row_pieces) {
    for (const Weight::Piece& part : weight.pieces) {
      if (experts || tuning_.few > 0) one(piece, part, false);
      if (!experts && piece.limit > tuning_.few) one(piece, part, true);
    }
  }
}

void Appender::rope() {
  const rc_plugin_value& x = in(0).value;
  for (const Piece& piece : pieces(in(0), {&in(0), &in(1), &out(0)})) {
    Dispatch& d = append(
        Shader::kRope, {std::min(32u, tuning_.plain)}, piece,
        {narrow(x.shape[2]), narrow(in(2).value.shape[0]),
         op_.params.rope.style == RC_ROPE_HALVES, word(op_.params.rope.scale)});
    bind(d, 1, in(0), piece);
    bind(d, 2, in(1), piece);
    bind(d, 3, in(2), piece);
    bind(d, 8, out(0), piece);
    d.x = narrow(x.shape[1]);
  }
}

void Appender::cache_store() {
  const rc_plugin_value& x = in(0).value;
  const rc_plugin_value& table = in(3).value;
  const Placed& cache = in(4);
  const CacheRanges ranges = ranges_of(device_, cache.value);
  const auto pages = static_cast<uint64_t>(cache.value.shape[0]);
  for (const Piece& piece : pieces(in(0), {&in(0), &in(1), &in(2)})) {
    for (uint64_t first = 0; first < pages; first += ranges.pages) {
      const uint64_t count = std::min(ranges.pages, pages - first);
      Dispatch& d = append(
          Shader::kCacheStore,
          {std::min(32u, tuning_.plain), type_number(cache.value.dtype)}, piece,
          {narrow(x.shape[1]), narrow(cache.value.shape[2]),
           narrow(cache.value.shape[0]), narrow(table.shape[1]),
           static_cast<uint32_t>(first), static_cast<uint32_t>(count),
           narrow(x.shape[2])});
      bind(d, 1, in(0), piece);
      bind(d, 2, in(1), piece);
      bind(d, 3, in(2), piece);
      d.bindings.push_back({4, in(3).region});
      d.bindings.push_back({8,
                            {cache.region.buffer,
                             cache.region.offset + first * ranges.page_bytes,
                             count * ranges.page_bytes}});
      d.x = narrow(x.shape[1]);
    }
  }
}

void Appender::attention() {
  const rc_plugin_value& q = in(0).value;
  const rc_plugin_value& cache = in(1).value;
  const CacheRanges ranges = ranges_of(device_, cache);
  const auto pages = static_cast<uint64_t>(cache.shape[0]);
  const uint32_t head = narrow(q.shape[2]);
  for (const Piece& piece : pieces(in(0), {&in(0), &in(3), &in(4), &out(0)})) {
    Dispatch& d = append(
        Shader::kAttention,
        {tuning_.attention, type_number(cache.dtype), head,
         static_cast<uint32_t>(ranges.count)},
        piece,
        {narrow(cache.shape[1]), narrow(cache.shape[2]), narrow(cache.shape[0]),
         narrow(in(5).value.shape[1]), static_cast<uint32_t>(ranges.pages),
         narrow(q.shape[1]),
         // Positions are below 2^31: a larger window sees as much.
         static_cast<uint32_t>(
             std::min<int64_t>(op_.params.attention.window, INT32_MAX)),
         word(op_.params.attention.scale), word(op_.params.attention.softcap)});
    bind(d, 1, in(0), piece);
    bind(d, 2, in(3), piece);
    bind(d, 3, in(4), piece);
    d.bindings.push_back({4, in(5).region});
    bind(d, 8, out(0), piece);
    for (uint32_t i = 0; i < kCacheRanges; ++i) {
      const uint64_t first =
          std::min<uint64_t>(i, ranges.count - 1) * ranges.pages;
      const uint64_t count = std::min(ranges.pages, pages - first);
      for (int values = 0; values < 2; ++values) {
        const Region& all = in(1 + values).region;
        d.bindings.push_back(
            {10 + 4 * static_cast<uint32_t>(values) + i,
             {all.buffer, all.offset + first * ranges.page_bytes,
              count * ranges.page_bytes}});
      }
    }
    d.x = narrow(q.shape[1]);
    d.row_work = static_cast<double>(q.shape[1]) * head * 256;
  }
}

void Appender::elementwise(uint32_t kind, float factor, bool two) {
  const Placed& b = in(two ? 1 : 0);
  const uint32_t width = narrow(width_of(in(0).value));
  constexpr uint32_t kEach = 8;  // elements of a lane
  for (const Piece& piece : pieces(in(0), {&in(0), &b, &out(0)})) {
    Dispatch& d = append(Shader::kElementwise, {tuning_.plain, kind}, piece,
                         {width, word(factor)});
    bind(d, 1, in(0), piece);
    bind(d, 2, b, piece);
    bind(d, 8, out(0), piece);
    spread(d, divided(width, uint64_t{tuning_.plain} * kEach));
  }
}

void Appender::route() {
  for (const Piece& piece : pieces(in(0), {&in(0), &out(0), &out(1)})) {
    Dispatch& d =
        append(Shader::kRoute, {tuning_.texels != 0 ? 8u : 32u}, piece,
               {narrow(in(0).value.shape[1]), narrow(out(0).value.shape[1]),
                op_.params.route.normalize != 0});
    bind(d, 1, in(0), piece);
    bind(d, 8, out(0), piece);
    bind(d, 9, out(1), piece);
  }
}

void Appender::expert_sum() {
  const rc_plugin_value& x = in(0).value;
  for (const Piece& piece : pieces(in(0), {&in(0), &in(1), &out(0)})) {
    Dispatch& d = append(Shader::kExpertSum, {tuning_.plain}, piece,
                         {narrow(x.shape[2]), narrow(x.shape[1])});
    bind(d, 1, in(0), piece);
    bind(d, 2, in(1), piece);
    bind(d, 8, out(0), piece);
    spread(d, divided(static_cast<uint64_t>(x.shape[2]), tuning_.plain));
  }
}

void Appender::run() {
  // Kinds as in shaders/elementwise.comp.
  switch (op_.code) {
    case RC_OP_GET_ROWS:
      return in(0).weight != nullptr ? get_rows() : copy_rows();
    case RC_OP_RMS_NORM:
      return rms_norm();
    case RC_OP_LINEAR:
    case RC_OP_EXPERT_LINEAR:
      return linear();
    case RC_OP_ROPE:
      return rope();
    case RC_OP_CACHE_STORE:
      return cache_store();
    case RC_OP_ATTENTION:
      return attention();
    case RC_OP_GLU:
      return elementwise(static_cast<uint32_t>(op_.params.glu.function), 0,
                         true);
    case RC_OP_ADD:
      return elementwise(16, 0, true);
    case RC_OP_SCALE:
      return elementwise(17, op_.params.scale.factor, false);
    case RC_OP_SOFTCAP:
      return elementwise(18, op_.params.softcap.cap, false);
    case RC_OP_ROUTE:
      return route();
    case RC_OP_EXPERT_SUM:
      return expert_sum();
  }
  fail(RC_E_UNSUPPORTED, "op number ", op_.code, " is not known here");
}

// Throws RC_E_UNSUPPORTED if no rows of a value can be bound; see pieces.
void check_rows(const Device& device, const Op& op,
                const rc_plugin_value& value) {
  if (value.storage == RC_STORAGE_WEIGHT || value.storage == RC_STORAGE_CACHE) {
    return;
  }
  const uint64_t bytes = row_bytes_of(value);
  const uint64_t step =
      device.alignment() / std::gcd(device.alignment(), bytes);
  if (bytes > device.tuning().range / step) {
    fail(RC_E_UNSUPPORTED, op_name(op.code), " with ", value_text(value), ": ",
         step, " rows are bound at once; the device allows ",
         device.tuning().range, " bytes");
  }
}

}  // namespace

uint32_t RowRange::count(const Rows& rows) const {
  if (symbol == kFixedRows) return limit;
  const int64_t all = symbol == 1 ? rows.outputs : rows.rows;
  const int64_t here = std::clamp<int64_t>(all - first, 0, limit);
  const auto count = static_cast<uint32_t>(here);
  return count >= at_least && count <= at_most ? count : 0;
}

void append_dispatches(Device& device, const Op& op, int32_t number,
                       std::span<const Placed> values, const Rows& limits,
                       std::vector<Dispatch>* dispatches,
                       std::deque<Buffer>* kept) {
  if (is_tensor_op(op.code)) {
    return append_tensor_dispatches(device, op, number, values, dispatches,
                                    kept);
  }
  Appender(device, op, number, values, limits, dispatches).run();
}

void check_supported(const Device& device, const Op& op,
                     std::span<const rc_plugin_value> values) {
  if (is_tensor_op(op.code)) {
    return check_tensor_supported(device, op, values);
  }
  const auto fits = [&](int64_t groups, int axis, const char* what) {
    if (groups > device.most_groups(axis)) {
      fail(RC_E_UNSUPPORTED, op_name(op.code), " with ", groups, " ", what,
           "; the device allows ", device.most_groups(axis));
    }
  };
  check_loops(device.tuning(), op, values);
  for (int32_t input : op.inputs) {
    if (input < 0) continue;
    const rc_plugin_value& value = values[input];
    if (value.storage == RC_STORAGE_WEIGHT &&
        find_format(value.dtype) == nullptr) {
      fail(RC_E_UNSUPPORTED, "there is no decoder for ",
           dtype_name(value.dtype));
    }
    for (int i = 0; i < value.rank; ++i) {
      if (value.shape[i] > INT32_MAX) {
        fail(RC_E_UNSUPPORTED, value_text(value), " has a dimension beyond ",
             INT32_MAX);
      }
    }
    check_rows(device, op, value);
    if (value.storage == RC_STORAGE_CACHE) {
      const CacheRanges ranges = ranges_of(device, value);
      if (ranges.pages == 0 ||
          (ranges.count > kCacheRanges && op.code == RC_OP_ATTENTION)) {
        fail(RC_E_UNSUPPORTED, "a cache ", value_text(value),
             " needs more than ", kCacheRanges, " ranges of ",
             device.tuning().range,
             " bytes, which is what the device can bind");
      }
    }
  }
  for (int32_t output : op.outputs) {
    if (output >= 0) check_rows(device, op, values[output]);
  }
  const rc_plugin_value& x = values[op.inputs[0]];
  switch (op.code) {
    case RC_OP_RMS_NORM:
      if (x.rank == 3) fits(x.shape[1], 0, "heads");
      break;
    case RC_OP_ROPE:
    case RC_OP_ATTENTION:
    case RC_OP_CACHE_STORE:
      fits(x.shape[1], 0, "heads");
      break;
    case RC_OP_EXPERT_LINEAR:
      fits(divided(static_cast<uint64_t>(values[op.inputs[1]].shape[1]),
                   device.tuning().tile),
           0, "tiles of rows of an expert");
      fits(values[op.inputs[2]].shape[1], 2, "chosen experts");
      break;
    default:
      break;
  }
  if (op.code == RC_OP_ATTENTION && values[op.inputs[0]].shape[2] > 1024) {
    fail(RC_E_UNSUPPORTED, "heads of ", values[op.inputs[0]].shape[2],
         " elements; up to 1024 are possible");
  }
}

}  // namespace rc::vulkan
