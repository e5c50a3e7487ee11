// The rules of ops beyond the types and shapes of their schema. Each throws
// RC_E_INVALID_ARGUMENT, or RC_E_UNSUPPORTED for a type that the op cannot
// have.
#pragma once

namespace rc {

class OpMatch;

void check_pairs(const OpMatch& op);              // ROPE
void check_attention(const OpMatch& op);          // ATTENTION
void check_general_attention(const OpMatch& op);  // GENERAL_ATTENTION
void check_choices(const OpMatch& op);            // ROUTE, CHOOSE, SPARSE_MIX
void check_grouped_choices(const OpMatch& op);    // CHOOSE_IN_GROUPS
void check_joined(const OpMatch& op);             // JOIN
void check_groups(const OpMatch& op);             // SELECTIVE_SCAN
void check_key_groups(const OpMatch& op);         // DELTA_RULE
void check_fading(const OpMatch& op);             // FADING_STATE
void check_view(const OpMatch& op);               // COPY
void check_conversion(const OpMatch& op);         // CONVERT
void check_gathering(const OpMatch& op);          // GET_ROWS of tensors
void check_row_function(const OpMatch& op);       // UNARY of rows
void check_function(const OpMatch& op);           // UNARY of tensors
void check_repeats(const OpMatch& op);            // BINARY, WHERE
void check_places(const OpMatch& op);             // ARGMAX
void check_product(const OpMatch& op);            // MATMUL
void check_convolution(const OpMatch& op);        // CONV2D
void check_attend(const OpMatch& op);             // ATTEND
void check_concat(const OpMatch& op);             // CONCAT
void check_padding(const OpMatch& op);            // PAD
void check_order(const OpMatch& op);              // ORDER

}  // namespace rc
