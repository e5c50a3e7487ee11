/* Runcible: the op vocabulary of the plugin ABI. Programs are made of values,
 * and of ops that compute some of them from others; this says what each op
 * does. For rules and versions see plugin.h, which includes this; the ops of
 * tensors are in plugin_tensor_ops.h. */
#ifndef RUNCIBLE_PLUGIN_OPS_H
#define RUNCIBLE_PLUGIN_OPS_H

#include <stddef.h>

#include "runcible/plugin_tensor_ops.h"
#include "runcible/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RC_PLUGIN_MAX_RANK 4

/* Symbolic dimensions. They occur only as the first (slowest) dimension of a
 * value and get their number at each run. */
enum {
  /* Rows of the batch: one token each. */
  RC_DIM_ROWS = -1,
  /* Rows of which the logits are wanted. */
  RC_DIM_OUTPUTS = -2,
  /* Sequences that occur in the batch. */
  RC_DIM_SEQUENCES = -3
};

/* Where a value of a program lives. */
enum {
  /* A weight; `index` counts rc_plugin_program.weights. */
  RC_STORAGE_WEIGHT = 0,
  /* Memory that lives between runs: KV cache, states, or a tensor; `index`
   * counts rc_plugin_program.caches, `offset` its bytes. KV caches and states
   * have offset 0, a tensor's is a multiple of the bytes of its type's elements
   * or blocks. */
  RC_STORAGE_CACHE = 1,
  /* Given at each run from host memory; `index` counts rc_plugin_run.inputs. */
  RC_STORAGE_INPUT = 2,
  /* Scratch memory of the program at byte `offset` of an area of
   * rc_plugin_program.scratch_bytes. Values whose lifetimes do not overlap may
   * share bytes; an op's output shares bytes with one of its inputs only where
   * the op's description allows it. */
  RC_STORAGE_SCRATCH = 3,
  /* Written back to host memory; `index` counts rc_plugin_run.outputs. Later
   * ops of the program may read it like scratch. */
  RC_STORAGE_OUTPUT = 4
};

typedef struct rc_plugin_value {
  rc_dtype dtype;
  int32_t rank;
  int64_t shape[RC_PLUGIN_MAX_RANK];
  int32_t storage;
  int32_t index;   /* no meaning for scratch */
  uint64_t offset; /* of scratch: a multiple of 64; of caches: bytes */
} rc_plugin_value;

/* The op vocabulary. In shapes R is RC_DIM_ROWS or RC_DIM_OUTPUTS, rows and
 * sequences are RC_DIM_ROWS and RC_DIM_SEQUENCES, and other names fixed
 * dimensions; a name stands for one number in all values of an op. A dimension
 * with a question mark may be missing, in all values or in none; an ellipsis is
 * any number of fixed dimensions, up to the largest rank. Every value is F32
 * unless said otherwise. "table", "weight", "bias" and "frequencies" are
 * weights; the others are not, unless said otherwise. */
enum {
  /* Rows of a table by number, each within 0 to n - 1.
   * inputs: table [n, d] of any type (or F32 rows), ids I32 [R];
   *         output [R, d].
   * Of tensors: inputs: table [n, d] of any type that can be decoded,
   *         ids I32 [r]; output [r, d] of D. D is F64 of a table of F64,
   *         else F32. */
  RC_OP_GET_ROWS = 1,
  /* x / sqrt(mean(x^2) + epsilon) * weight over the last dimension
   * (Zhang and Sennrich 2019, arXiv:1910.07467).
   * inputs: x [R, heads?, d], weight [d]; output [R, heads?, d], may be x.
   *         params.norm. */
  RC_OP_RMS_NORM = 2,
  /* x W^T + bias + residual.
   * inputs: x [R, k], weight [n, k] of any type, bias [n] or absent,
   *         residual [R, n] or absent; output [R, n], may be residual. */
  RC_OP_LINEAR = 3,
  /* Rotary position embedding (Su et al. 2021, arXiv:2104.09864): pair i of
   * the first 2 * pairs elements of each head turns by the angle
   * position * frequencies[i]; the result is scaled by params.rope.scale.
   * Elements beyond the pairs are copied unscaled.
   * inputs: x [R, heads, d], positions I32 [R], frequencies [pairs];
   *         output [R, heads, d], may be x. params.rope.
   * Of tensors: inputs: x [r, heads, d], positions I32 [r],
   *         frequencies [pairs]; output [r, heads, d]. */
  RC_OP_ROPE = 4,
  /* Writes keys or values into a paged cache. Position p of sequence s has its
   * place at element p % page_size of page page_table[s][p / page_size];
   * sequences are indices into the page table.
   * inputs: x [R, kv_heads, d], positions I32 [R], sequences I32 [R],
   *         page_table I32 [sequences, m],
   *         cache [pages, kv_heads, page_size, d] of F32, F16 or Q8_0; no
   *         output. */
  RC_OP_CACHE_STORE = 5,
  /* Attention over a paged cache that already holds the keys and values of
   * these rows. Row r, at position p of its sequence, sees the positions
   * max(0, p - window + 1) to p (from 0 if window is 0); for pages that no row
   * sees, page_table may give any page. Where there are lengths, a row of
   * sequence s sees the positions behind its own too: 0 to lengths[s] - 1, or
   * as many of them as lie within the window, max(0, p - window + 1) to
   * min(lengths[s], p + window) - 1; the cache holds all of them, and the page
   * table has their pages. Query head h reads key/value head
   * h / (heads / kv_heads). With x = scale * (q . k) and, if softcap > 0,
   * x = softcap * tanh(x / softcap), the result is the sum of softmax(x) * v.
   * Where there are sinks, the softmax of head h has sinks[h] as one more x,
   * whose v is zero (OpenAI 2025, arXiv:2508.10925); there are none where there
   * are lengths and a window.
   * inputs: q [R, heads, d],
   *         key cache [pages, kv_heads, page_size, d] of F32, F16 or Q8_0,
   *         value cache [pages, kv_heads, page_size, d] of F32, F16 or Q8_0,
   *         positions I32 [R], sequences I32 [R],
   *         page_table I32 [sequences, m],
   *         sinks [heads] (a weight) or absent,
   *         lengths I32 [sequences] (an input of the program) or absent;
   *         output [R, heads, d]. params.attention. */
  RC_OP_ATTENTION = 6,
  /* function(gate) * (up + offset) (Shazeer 2020, arXiv:2002.05202); if
   * limit > 0, gate counts as at most limit, and up as -limit to limit.
   * inputs: gate [R, ...], up [R, ...]; output [R, ...], may be gate or up.
   *         params.glu. */
  RC_OP_GLU = 7,
  /* a + b.
   * inputs: a [R, ...], b [R, ...]; output [R, ...], may be a or b. */
  RC_OP_ADD = 8,
  /* x * params.scale.factor.
   * inputs: x [R, ...]; output [R, ...], may be x. */
  RC_OP_SCALE = 9,
  /* cap * tanh(x / cap).
   * inputs: x [R, ...]; output [R, ...], may be x. params.softcap. */
  RC_OP_SOFTCAP = 10,
  /* Chooses experts: p = softmax(x) over all experts; the k largest p in
   * falling order (the lower number first among equals); if normalize, they
   * are divided by their sum.
   * inputs: x [R, experts]; outputs: ids I32 [R, k],
   *         weights [R, k]. params.route. */
  RC_OP_ROUTE = 11,
  /* For each row the products with its chosen experts, and their biases.
   * inputs: x [R, k?, d], weight [experts, n, d] of any type,
   *         ids I32 [R, k], bias [experts, n] or absent; output [R, k, n]. */
  RC_OP_EXPERT_LINEAR = 12,
  /* The weighted sum over the chosen experts, in the order of choice.
   * inputs: x [R, k, n], weights [R, k]; output [R, n]. */
  RC_OP_EXPERT_SUM = 13,
  /* Causal convolution of each channel along the rows of a sequence, which come
   * in the order of their positions:
   * y[t][c] = function(bias[c] + sum over i < w of weight[c][i] *
   * x[t - w + 1 + i][c]). The w - 1 rows before the first one of the run are
   * the sequence's state, all zero where it has none yet; the last w - 1 rows
   * are its state after the run. Rows of a sequence s read the slot
   * state_slots[s][0] of the cache (-1: no state yet) and write the slot
   * state_slots[s][1], which may be the same; no two sequences of a run write
   * the same slot or read one that another writes.
   * inputs: x [rows, d], weight [d, w], bias [d] or absent,
   *         sequences I32 [rows], state_slots I32 [sequences, 2],
   *         cache [slots, w-1, d] of F32;
   *         output [rows, d]. params.short_conv. */
  RC_OP_SHORT_CONV = 14,
  /* The selective state space of Mamba 2 (Dao and Gu 2024, arXiv:2405.21060).
   * Head h keeps a state S [p, n]. For each row of a sequence in turn, with
   * t = softplus(steps[h] + step_bias[h]) and the b and c of group
   * h / (heads / groups):
   * S = exp(t * decay[h]) * S + t * x[h] b^T; y[h] = S c + skip[h] * x[h].
   * State and slots as for SHORT_CONV.
   * inputs: x [rows, heads, p], steps [rows, heads], b [rows, groups, n],
   *         c [rows, groups, n], step_bias [heads] (a weight),
   *         decay [heads] (a weight), skip [heads] (a weight),
   *         sequences I32 [rows], state_slots I32 [sequences, 2],
   *         cache [slots, heads, p, n] of F32; output [rows, heads, p]. */
  RC_OP_SELECTIVE_SCAN = 15,
  /* Chooses experts by more than what they are weighed with (Wang et al. 2024,
   * arXiv:2408.15664). p = softmax(x) over all experts, or the sigmoid of each
   * x; the k experts with the largest p + bias in falling order (the lower
   * number first among equals) have their p as weights; if normalize, these
   * are divided by their sum.
   * inputs: x [R, experts], bias [experts]; outputs: ids I32 [R, k],
   *         weights [R, k]. params.choose. */
  RC_OP_CHOOSE = 16,
  /* ATTENTION with more to it. Values may have another length than keys; where
   * there is no value cache, they are the first v elements of the keys
   * (DeepSeek-AI 2024, arXiv:2405.04434). If chunk > 0, a row at position p
   * sees no position before p / chunk * chunk (rounded down); window is 0 then.
   * If temperature > 0, scale is multiplied by
   * 1 + temperature * ln(1 + floor((p + 1) / temperature_length)).
   * After that and the softcap two terms may be added to the x of head h for
   * position i: -slopes[h] * |i - p| (Press et al. 2021, arXiv:2108.12409), and
   * distances[h][clamp(i - p, -m, m) + m] with span = 2 m + 1, which is odd
   * (Raffel et al. 2019, arXiv:1910.10683). Lengths exclude chunks as they
   * exclude windows.
   * inputs: q [R, heads, d],
   *         key cache [pages, kv_heads, page_size, d] of F32, F16 or Q8_0,
   *         value cache [pages, kv_heads, page_size, v] of F32, F16 or Q8_0 or
   *         absent,
   *         positions I32 [R], sequences I32 [R],
   *         page_table I32 [sequences, m],
   *         sinks [heads] (a weight) or absent,
   *         lengths I32 [sequences] (an input of the program) or absent,
   *         slopes [heads] (a weight) or absent,
   *         distances [heads, span] (a weight) or absent;
   *         output [R, heads, v]. params.general_attention. */
  RC_OP_GENERAL_ATTENTION = 17,
  /* CHOOSE among the experts of the best groups (DeepSeek-AI 2024,
   * arXiv:2412.19437): `groups` groups of as many experts each follow one
   * another. A group's score is the sum of the `best` largest p + bias in it;
   * the experts of the groups_used groups with the largest scores (the lower
   * number first among equals) can be chosen.
   * inputs: x [R, experts], bias [experts] or absent; outputs: ids I32 [R, k],
   *         weights [R, k]. params.choose_in_groups. */
  RC_OP_CHOOSE_IN_GROUPS = 18,
  /* The elements of b behind those of a, for each head: s = m + n.
   * inputs: a [R, heads, m], b [R, heads, n]; output [R, heads, s]. */
  RC_OP_JOIN = 19,
  /* The selective state space of Mamba (Gu and Dao 2023, arXiv:2312.00752).
   * Channel i keeps a state S [n]. For each row of a sequence in turn, with
   * t = softplus(steps[i]):
   * S[j] = exp(t * decay[i][j]) * S[j] + t * x[i] * b[j];
   * y[i] = S . c + skip[i] * x[i]. State and slots as for SHORT_CONV.
   * inputs: x [rows, d], steps [rows, d], b [rows, n], c [rows, n],
   *         decay [d, n] (a weight), skip [d] (a weight),
   *         sequences I32 [rows], state_slots I32 [sequences, 2],
   *         cache [slots, d, n] of F32; output [rows, d]. */
  RC_OP_CHANNEL_SCAN = 20,
  /* The gated delta rule (Yang, Kautz and Hatamizadeh 2024, arXiv:2412.06464).
   * Head h keeps a state S [p, n]. For each row of a sequence in turn, with
   * t = softplus(steps[h] + step_bias[h]) and the q and k of group
   * h / (heads / groups), or h % groups if params.delta_rule.interleaved:
   * S = exp(t * decay[h]) * S; S = S + rates[h] * (v[h] - S k) k^T;
   * y[h] = S q. State and slots as for SHORT_CONV.
   * inputs: v [rows, heads, p], q [rows, groups, n], k [rows, groups, n],
   *         steps [rows, heads], rates [rows, heads],
   *         step_bias [heads] (a weight), decay [heads] (a weight),
   *         sequences I32 [rows], state_slots I32 [sequences, 2],
   *         cache [slots, heads, p, n] of F32; output [rows, heads, p].
   *         params.delta_rule. */
  RC_OP_DELTA_RULE = 21,
  /* RMS_NORM over each group of a row by itself, with a separate weight.
   * inputs: x [R, groups, d], weight [groups, d];
   *         output [R, groups, d], may be x. params.norm. */
  RC_OP_GROUP_NORM = 22,
  /* a * b, element by element.
   * inputs: a [R, ...], b [R, ...]; output [R, ...], may be a or b. */
  RC_OP_MULTIPLY = 23,
  /* min(max(x, -limit), limit).
   * inputs: x [R, ...]; output [R, ...], may be x. params.clamp. */
  RC_OP_CLAMP = 24,
  /* x * weight + bias, the same for every row.
   * inputs: x [R, heads?, d], weight [heads?, d] or absent,
   *         bias [heads?, d] or absent; output [R, heads?, d], may be x. */
  RC_OP_AFFINE = 25,
  /* Chooses experts one after another, each as if it were the only one (Liu et
   * al. 2024, arXiv:2409.12136, section 2.2; as Abdin et al. 2024,
   * arXiv:2404.14219, infer with it). Of those not chosen yet the one with the
   * largest x, t, is next (the lower number first among equals); its weight is
   * 1 / sum of exp(x - t) over those not chosen yet whose distance (t - x) is
   * at most margin * max(|x|, t).
   * inputs: x [R, experts]; outputs: ids I32 [R, k],
   *         weights [R, k]. params.sparse_mix. */
  RC_OP_SPARSE_MIX = 26,
  /* alpha_p x^2 + beta x where x > 0, and elsewhere
   * alpha_n (exp(min(x, epsilon)) - 1 - x) + beta x (Huang and Schlag 2024,
   * arXiv:2411.13010).
   * inputs: x [R, ...]; output [R, ...], may be x. params.xielu. */
  RC_OP_XIELU = 27,
  /* Linear attention whose states fade by the column. Head h keeps a state
   * S [p, n]. For each row of a sequence in turn, if there are a and b (RWKV 7,
   * Peng et al. 2025, arXiv:2503.14456):
   * w[j] = exp(-exp(-1/2) / (1 + exp(-decays[h][j])));
   * S = S diag(w) + (S a[h]) b[h]^T + v[h] k[h]^T; y[h] = S q[h];
   * where S a[h] is of the S before; and if there are not (RWKV 6, Peng et al.
   * 2024, arXiv:2404.05892): w[j] = exp(-exp(decays[h][j])); y[h] = S q[h];
   * then S = S diag(w) + v[h] k[h]^T. What the row brings by itself is
   * own[h] = (sum over j of bonus[h][j] * k[h][j] * q[h][j]) * v[h]. State and
   * slots as for SHORT_CONV. If a is absent, so is b.
   * inputs: v [rows, heads, p], q [rows, heads, n], k [rows, heads, n],
   *         decays [rows, heads, n], a [rows, heads, n] or absent,
   *         b [rows, heads, n] or absent,
   *         bonus [heads, n] (a weight), sequences I32 [rows],
   *         state_slots I32 [sequences, 2],
   *         cache [slots, heads, p, n] of F32;
   *         outputs: y [rows, heads, p], own [rows, heads, p]. */
  RC_OP_FADING_STATE = 28,
  /* DELTA_RULE whose states fade by the column (Kimi Team 2025,
   * arXiv:2510.26692). Head h keeps a state S [p, n]. For each row of a
   * sequence in turn, with t[j] = softplus(steps[h][j] + step_bias[h][j]): S =
   * S diag(exp(t * decay[h])); S = S + rates[h] * (v[h] - S k[h]) k[h]^T; y[h]
   * = S q[h]. State and slots as for SHORT_CONV. inputs: v [rows, heads, p], q
   * [rows, heads, n], k [rows, heads, n], steps [rows, heads, n], rates [rows,
   * heads], step_bias [heads, n] (a weight), decay [heads] (a weight),
   *         sequences I32 [rows], state_slots I32 [sequences, 2],
   *         cache [slots, heads, p, n] of F32; output [rows, heads, p]. */
  RC_OP_COLUMN_DELTA_RULE = 29
};

/* Of CHOOSE: what p is. */
enum { RC_SCORE_SOFTMAX = 0, RC_SCORE_SIGMOID = 1 };

/* The parameters of an op, by its kind; an op that has none reads none. */
typedef union rc_plugin_params {
  struct {
    float epsilon;
  } norm;
  struct {
    int32_t style; /* RC_ROPE_* */
    float scale;
  } rope;
  struct {
    float scale;
    float softcap;
    int64_t window;
  } attention;
  struct {
    int32_t function; /* RC_FUNCTION_*, not NONE */
    float limit;      /* 0: none */
    float offset;
  } glu;
  struct {
    float factor;
  } scale;
  struct {
    float cap;
  } softcap;
  struct {
    int32_t normalize;
  } route;
  struct {
    int32_t function; /* RC_FUNCTION_*, RC_FUNCTION_NONE too */
  } short_conv;
  struct {
    int64_t strides[RC_PLUGIN_MAX_RANK]; /* in elements, by dimension */
  } copy;
  struct {
    int32_t function; /* RC_FUNCTION_* or RC_UNARY_* */
  } unary;
  struct {
    int32_t function; /* RC_BINARY_* */
  } binary;
  struct {
    float epsilon;
    int32_t center;
  } layer_norm;
  struct {
    int32_t function; /* RC_REDUCE_* */
  } reduce;
  struct {
    int32_t transposed;
    int32_t function; /* RC_FUNCTION_* */
  } matmul;
  struct {
    int32_t stride[2]; /* down, across; at least 1 */
    int32_t padding[2];
    int32_t dilation[2]; /* at least 1 */
    int32_t groups;
  } conv2d;
  struct {
    float scale;
    float softcap;
    int32_t causal;
  } attend;
  struct {
    int32_t score; /* RC_SCORE_* */
    int32_t normalize;
  } choose;
  struct {
    float scale;
    float softcap;
    int64_t window;
    int64_t chunk;     /* 0: none */
    float temperature; /* 0: none */
    int64_t temperature_length;
  } general_attention;
  struct {
    int32_t score; /* RC_SCORE_* */
    int32_t normalize;
    int64_t groups;      /* at least 1; a divisor of experts */
    int64_t groups_used; /* 1 to groups */
    int32_t best;        /* 1 or 2 */
  } choose_in_groups;
  struct {
    float limit; /* above 0 */
  } clamp;
  struct {
    int32_t interleaved;
  } delta_rule;
  struct {
    float margin;
  } sparse_mix;
  struct {
    float alpha_p;
    float alpha_n;
    float beta;
    float epsilon;
  } xielu;
  struct {
    int64_t before; /* 0 to m - n */
    float value;
  } pad;
  struct {
    int32_t falling;
  } order;
} rc_plugin_params;

/* One op. Its inputs and outputs are numbers of values, in the order of the
 * op's description and as many as that names; -1 is an absent input. */
typedef struct rc_plugin_op {
  int32_t code; /* RC_OP_* */
  size_t input_count;
  const int32_t* inputs;
  size_t output_count;
  const int32_t* outputs;
  const rc_plugin_params* params; /* never NULL */
} rc_plugin_op;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RUNCIBLE_PLUGIN_OPS_H */
