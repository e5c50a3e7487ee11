#include "model/source.h"

namespace rc::model {
namespace {

using runtime::kAbsent;
using runtime::Value;

class Source : private LayerParts {
 public:
  Source(const LayerParts& parts, const LayerCaches& caches,
         const SourceInputs& inputs)
      : LayerParts(parts), caches_(caches), inputs_(inputs) {}

  void store(Value rows) {
    const int64_t heads = layer().kv_heads;
    store(rows, heads, names_.source_key, caches_.keys);
    store(rows, heads, names_.source_value, caches_.values);
  }

  Value attend(Value x, Value output_rows) {
    Value q = of_heads(norm(x, names_.source_norm), layer().heads,
                       names_.source_query);
    const Value y = builder_.attention(
        q, caches_.keys, caches_.values, inputs_.positions, inputs_.sequences,
        inputs_.page_table,
        static_cast<float>(architecture_.attention.scale(hyper_)), 0.0f, 0,
        kAbsent, inputs_.lengths);
    Value rows =
        builder_.reshape(y, {RC_DIM_ROWS, layer().heads * layer().key_size});
    if (output_rows != kAbsent) {
      rows = builder_.get_rows(rows, output_rows);
      x = builder_.get_rows(x, output_rows);
    }
    return joined(rows, names_.source_output, Presence::kNever,
                  names_.post_attention_norm, x);
  }

 private:
  Value of_heads(Value x, int64_t heads, const char* name) {
    const int64_t size = layer().key_size;
    return builder_.reshape(linear(x, name, heads * size),
                            {RC_DIM_ROWS, heads, size});
  }
  void store(Value rows, int64_t heads, const char* name, Value cache) {
    builder_.cache_store(of_heads(rows, heads, name), inputs_.positions,
                         inputs_.sequences, inputs_.page_table, cache);
  }

  const LayerCaches& caches_;
  const SourceInputs& inputs_;
};

}  // namespace

void add_source_store(const LayerParts& parts, Value rows,
                      const LayerCaches& caches, const SourceInputs& inputs) {
  Source(parts, caches, inputs).store(rows);
}

Value add_source_attention(const LayerParts& parts, Value x,
                           const LayerCaches& caches,
                           const SourceInputs& inputs, Value output_rows) {
  return Source(parts, caches, inputs).attend(x, output_rows);
}

}  // namespace rc::model
