// The kernels of one instruction-set level, as a table of plain functions.
//
// Every level compiles the same sources (kernels/*.cc) into a namespace of its
// own, so this header and what those sources include hold no inline function or
// template that the linker could merge between levels: a copy built for a newer
// machine must never be the one that all levels share.
//
// All functions are pure over their arguments and may run on any thread. What
// they compute for one row does not depend on the other rows of the call.
#pragma once

#include <stdint.h>

#include "runcible/types.h"

namespace rc::cpu {

// Rows of a weight that are stored interleaved: one row per SIMD lane.
constexpr int kTileRows = 16;

// 32 consecutive activations of a row, quantized: x[i] = scale * quants[i].
struct ActivationBlock {
  int8_t quants[32];
  float scale;
  float weighted_sum;        // scale * sum of all quants
  float weighted_halves[2];  // the same of the first and the last 16
  // Minus the sums of quants: of all, of the first and the last 16. Products of
  // unsigned weights start from them.
  int32_t minus_sum;
  int32_t minus_halves[2];
  int32_t unused;  // one block fills a cache line
};
static_assert(sizeof(ActivationBlock) == 64);

// The type of tiles of F16 and BF16 whose rows are whole blocks of that many
// columns: quants of 16 bits (kernels/quants16.h), a type of no file.
constexpr rc_dtype kQuants16 = 1 << 17;
constexpr int kColumns16 = 64;
constexpr int kBlockBytes16 = kTileRows * (4 + kColumns16 * 2);

// So many consecutive activations of a row for them: x[i] = scale * quants[i].
struct ActivationBlock16 {
  int16_t quants[kColumns16];
  float scale;
};

// Rows that a call of a product kernel takes at most.
constexpr int kMaxChunk = 128;

// Products of rows of activations with tiles of 16 rows of a weight.
struct LinearTask {
  const uint8_t* tile;  // the first
  int64_t tile_bytes;   // from tile to tile
  // From the tiles to what is read from memory after them; 0 where that is what
  // follows them.
  int64_t prefetch_offset = 0;
  // Of linear_of_rows instead: from row to row of the weight, of which `tile`
  // is the first, in bytes.
  int64_t weight_step = 0;
  int tiles;
  int64_t columns;
  // Per row of activations: its ActivationBlocks, its ActivationBlock16s for
  // kQuants16 or, for float weights, its floats.
  const void* const* x;
  // Of product_of_tiles instead, if it is not NULL: rows that lie side by side,
  // and the floats from column to column.
  const float* across = nullptr;
  int64_t across_step = 0;
  // Per row: where its results of the tiles' rows go.
  float* const* y;
  // Per row: what is added to its results; NULL for nothing.
  const float* const* residual;
  const float* bias;  // of the tiles' rows; NULL for nothing
  // Where y is copied to, for the first row and from row to row: it may be
  // brought nearer meanwhile. NULL: nowhere.
  const float* target = nullptr;
  int64_t target_step = 0;
  int rows;   // 1 to kMaxChunk
  int lanes;  // rows of the weight in the tiles; the last may have less than 16
};
// From so many rows on tiles are worth making also where they are used once.
constexpr int kRowsForTiles = 16;
using LinearFunction = void (*)(const LinearTask& task);

// Decodes row `lane` of a tile to `columns` floats.
using TableFunction = void (*)(const uint8_t* tile, int lane, int64_t columns,
                               float* y);

// Packs `rows` (at most 16) rows of `columns` elements, `step` bytes apart in
// the layout of their type, into one tile. What rows are missing are zero.
using PackFunction = void (*)(const uint8_t* source, int64_t step, int rows,
                              int64_t columns, uint8_t* tile);

// Terms of scores that depend on where key and row are; see
// RC_OP_GENERAL_ATTENTION.
struct AttentionTerms {
  const float* slopes;     // [group]; NULL for none
  const float* distances;  // [group, span]; NULL for none
  int64_t span;
};

// Columns of a panel of product_f64.
constexpr int kPanelColumns = 16;

// Rows of queries of one sequence against one key/value head.
constexpr int kAttentionRows = 16;   // at most
constexpr int kAttentionChunk = 64;  // positions that are taken at once
constexpr int kAttentionHeads = 4;   // query heads that are, at most
struct AttentionTask {
  // [rows, group, d] and [rows, group, v], each row `q_stride` or `y_stride`
  // floats after the one before.
  const float* q;
  float* y;
  int64_t q_stride, y_stride;
  int rows;
  int group;
  // Whether keys are turned, once for all rows and heads. The sums of scores
  // have another order then: one of a model is like all others.
  bool turns_keys;
  int64_t d;  // of keys
  int64_t v;  // of values
  float scale;
  float softcap;
  const float* sinks;           // [group]; NULL for none
  const AttentionTerms* terms;  // NULL for none
  // Per row: positions seen, both included.
  int64_t first[kAttentionRows], last[kAttentionRows];
  int64_t at[kAttentionRows];  // the rows' own positions, where there are terms
  int64_t page_size;
  const int32_t* pages;  // page numbers of the sequence
  const uint8_t* keys;   // of this head in page 0
  const uint8_t* values;
  int64_t key_page_bytes, value_page_bytes;  // from page to page
  int64_t key_bytes, value_bytes;            // from position to position
  // kAttentionChunk * (d' + v' + kAttentionHeads) + 2 * rows * group floats,
  // with d' and v' rounded up to multiples of 16; at a multiple of 64 bytes.
  float* scratch;
};
using AttentionFunction = void (*)(const AttentionTask& task);

// An op of elements of which one operand is what is at hand.
struct ElementOp {
  enum What : int32_t {
    kAdd,
    kMultiply,
    kSubtract,      // the other from it
    kSubtractFrom,  // it from the other
    kDivide,        // by the other
    kDivideInto,    // the other
    kNegate,        // without another, as RELU
    kRelu
  };
  What what;
  int32_t step;        // 1, or 0 for one number that is repeated
  const float* other;  // as many as there are
};
struct ElementsTask {
  const float* x;
  int64_t n;
  const ElementOp* ops;
  int count;
  float* y;
};

// The parameters of GLU.
struct Gate {
  int32_t function;  // RC_FUNCTION_*, but NONE
  float limit;       // 0: none
  float offset;
};

// The inputs of one row for a head of a selective scan; see
// RC_OP_SELECTIVE_SCAN.
struct ScanRow {
  const float* x;  // [p]
  const float* b;  // [n]
  const float* c;  // [n]
  float step;      // softplus has been applied
  float kept;      // what is left of the state before
  float skip;
};

// The inputs of one row for `count` channels; see RC_OP_CHANNEL_SCAN.
struct ChannelRow {
  const float* x;      // [count]
  const float* steps;  // [count]; softplus has been applied
  const float* b;      // [n]
  const float* c;      // [n]
  const float* decay;  // [count, n]
  const float* skip;   // [count]
};

// The inputs of one row for a head; see RC_OP_DELTA_RULE.
struct DeltaRow {
  const float* v;  // [p]
  const float* q;  // [n]
  const float* k;  // [n]
  float kept;      // what is left of the state before
  float rate;
};

// Outputs that a call of Kernels::windows gives, at most.
constexpr int kWindowOutputs = 8;
struct WindowTask {
  // [window, kWindowOutputs]; numbers of outputs that there are not count too,
  // but only what they make is left out.
  const float* weights;
  const float* bias;  // [kWindowOutputs]
  // Of each number of a window from that of the first pixel's.
  const int64_t* offsets;
  int64_t window;
  const float* x;  // of the first pixel; the other pixels follow it
  int64_t pixels;  // at least 16
  float* y;        // of the first output
  int64_t plane;   // from output to output
  int outputs;
};

// Products of tensors that make a sum, which is then added to the others: that
// is more exact than one long sum, and takes what one product more would.
constexpr int kSumBlock = 128;

// All outputs of a block for pixels that lie side by side, where many outputs
// share what a pixel sees. A sum is that of the sums of kSumBlock products
// each, in order, as Kernels::product adds up.
constexpr int kPixelOutputs = 32;  // of a block
constexpr int kLeastPixels = 8;
struct PixelTask {
  const float* weights;  // [window, kPixelOutputs]
  const float* bias;     // [kPixelOutputs]
  // Of each number of a window from that of the first pixel's.
  const int64_t* offsets;
  int64_t window;
  const float* x;  // of the first pixel; the other pixels follow it
  int64_t pixels;  // at least kLeastPixels
  float* sums;     // [pixels, kPixelOutputs]
};

// Products of F32 of which b is packed, so that each number that is loaded
// serves for several sums. A sum is that of the sums of kSumBlock products
// each, in order.
constexpr int kProductRows = 16;     // of a call, at most
constexpr int kProductColumns = 48;  // of b
struct ProductTask {
  const float* a;
  int64_t a_step;  // from row to row
  const float* b;  // [k, columns]; read are whole vectors of 16
  int64_t b_step;  // from row to row
  int64_t k;
  float* y;
  int64_t y_step;     // from row to row
  int rows, columns;  // of y; at most kProductRows and kProductColumns
  bool more;          // add to what y holds
  const float* bias;  // else begin with this, by row; NULL: with 0
};

// Columns of a matrix that are to be packed as b: parts of its rows.
struct PanelPiece {
  int64_t from;  // from the first number of a row
  int to;        // column
  int count;     // at most 16
};
struct PanelTask {
  const float* x;
  const float* end;        // nothing is read from there on
  const int64_t* offsets;  // of the rows
  int64_t k;
  const PanelPiece* pieces;  // in the order of their columns and places
  int count;                 // at least 1
  int columns;   // after those that are missing from the last 16 are 0
  float* panel;  // [k, kProductColumns], with room for 16 more
};

// The same of a window, number by number and channel by channel, where some
// lanes of a vector see nothing: they are 0.
struct TapLoad {
  int64_t from;    // what lane 0 takes, from the first number of a channel
  uint32_t lanes;  // those that take something
};
struct TapTask {
  const float* x;  // of the first channel
  int64_t plane;   // from channel to channel
  int64_t first;   // row of all that there are of channels and taps
  int64_t k;
  int taps;  // numbers of a window in a channel
  int vectors;
  int loads;             // of each vector; what they take is joined
  const TapLoad* which;  // [taps, vectors, loads]
  float* panel;          // [k, kProductColumns]
};

// The inputs of one row for a head; see RC_OP_FADING_STATE.
struct FadingRow {
  const float* v;     // [p]
  const float* q;     // [n]
  const float* k;     // [n]
  const float* kept;  // [n]; what is left of each column
  const float* a;     // [n]; NULL: neither a nor b
  const float* b;     // [n]
};

struct Kernels {
  // NULL for types without a format of tiles.
  LinearFunction (*linear)(rc_dtype weight);
  // Products of few rows of activations with rows of a weight as files hold
  // them: those that tiles of kQuants16 give. NULL for other types.
  LinearFunction (*linear_of_rows)(rc_dtype weight);
  LinearFunction product_of_tiles;  // of F32; the sums are those of product
  TableFunction (*table)(rc_dtype weight);
  // Of rows of `weight` into tiles of `tile`. NULL for types that are not
  // packed so.
  PackFunction (*pack)(rc_dtype weight, rc_dtype tile);
  // NULL for a type that a cache can not have.
  AttentionFunction (*attention)(rc_dtype keys, rc_dtype values);

  // n is a multiple of 32.
  void (*quantize)(const float* x, int64_t n, ActivationBlock* y);
  // n is a multiple of kColumns16.
  void (*quantize16)(const float* x, int64_t n, ActivationBlock16* y);
  void (*rms_norm)(const float* x, const float* weight, int64_t n,
                   float epsilon, float* y);
  void (*glu)(const float* gate, const float* up, int64_t n, const Gate& how,
              float* y);
  void (*add)(const float* a, const float* b, int64_t n, float* y);
  void (*multiply)(const float* a, const float* b, int64_t n, float* y);
  void (*scale)(const float* x, int64_t n, float factor, float* y);
  void (*softcap)(const float* x, int64_t n, float cap, float* y);
  // One head. cosines and sines are scaled already.
  void (*rope)(const float* x, const float* cosines, const float* sines,
               int64_t pairs, int64_t d, int32_t style, float* y);
  // y = sum over i of weights[i] * x[i], x [count, n].
  void (*weighted_sum)(const float* x, const float* weights, int64_t count,
                       int64_t n, float* y);

  // RC_FUNCTION_*, but NONE, or RC_UNARY_*.
  void (*unary)(const float* x, int64_t n, int32_t function, float* y);
  // RC_BINARY_*; a step is 1, or 0 for one number that is repeated.
  void (*binary)(const float* a, int a_step, const float* b, int b_step,
                 int64_t n, int32_t function, float* y);
  // Several ops, of as many elements as fill vectors; gives how many. Each
  // becomes what it would by unary and binary. y may be x or what is read with
  // step 1.
  int64_t (*elements)(const ElementsTask& task);
  // Of condition, a and b, with steps alike.
  void (*where)(const float* const* from, const int* steps, int64_t n,
                float* y);
  // weight and bias may be NULL.
  void (*layer_norm)(const float* x, const float* weight, const float* bias,
                     int64_t n, float epsilon, int32_t center, float* y);
  void (*softmax)(const float* x, int64_t n, float* y);
  double (*sum)(const float* x, int64_t n);
  void (*windows)(const WindowTask& task);
  // NULL where registers are short.
  void (*pixels)(const PixelTask& task);
  void (*product)(const ProductTask& task);
  int product_columns;  // whose sums product keeps in registers at once
  void (*panel)(const PanelTask& task);
  // NULL where lanes cannot be left out.
  void (*taps)(const TapTask& task);
  // tiles[c / kTileRows * tile_step + r * kTileRows + c % kTileRows] is
  // x[r * step + c]; lanes of columns that are missing from the last tile
  // become 0.
  void (*tile_columns)(const float* x, int64_t step, int64_t rows,
                       int64_t columns, float* tiles, int64_t tile_step);
  // y[c * y_step + r] = x[r * step + c].
  void (*transpose)(const float* x, int64_t step, int64_t rows, int64_t columns,
                    float* y, int64_t y_step);

  // state [p, n] goes from one row to the next; y [p].
  void (*scan_head)(const ScanRow& row, int64_t p, int64_t n, float* state,
                    float* y);
  // state [count, n]; y [count].
  void (*scan_channels)(const ChannelRow& row, int64_t count, int64_t n,
                        float* state, float* y);
  // state [p, n]; y [p].
  void (*delta_head)(const DeltaRow& row, int64_t p, int64_t n, float* state,
                     float* y);
  // state [p, n]; y [p].
  void (*fading_head)(const FadingRow& row, int64_t p, int64_t n, float* state,
                      float* y);
  // y += x * weights.
  void (*multiply_add)(const float* x, const float* weights, int64_t n,
                       float* y);

  // y[r][c] = sum over i of a[r * step + i] * panel[i][c], in the order of i;
  // panel [k, kPanelColumns], y [rows, kPanelColumns].
  void (*product_f64)(const double* a, int64_t step, int64_t rows,
                      const double* panel, int64_t k, double* y);
  // Of F16 or BF16.
  void (*widen)(const uint16_t* x, int64_t n, rc_dtype type, float* y);
  // As encode_row of F16 does. NULL where that is as fast.
  void (*to_f16)(const float* x, int64_t n, uint16_t* y);
};

}  // namespace rc::cpu
