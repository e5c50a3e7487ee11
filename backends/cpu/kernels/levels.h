// Functions that the kernel sources of one level share.
#pragma once

#include "cpu/kernels.h"

namespace rc::cpu::RC_CPU_LEVEL {

LinearFunction linear_function(rc_dtype weight);
LinearFunction linear_of_rows_function(rc_dtype weight);
void product_of_tiles(const LinearTask& task);
TableFunction table_function(rc_dtype weight);
PackFunction pack_function(rc_dtype weight, rc_dtype tile);
PackFunction pack_quants16_function(rc_dtype weight);
AttentionFunction attention_function(rc_dtype keys, rc_dtype values);

void quantize(const float* x, int64_t n, ActivationBlock* y);
void quantize16(const float* x, int64_t n, ActivationBlock16* y);
void rms_norm(const float* x, const float* weight, int64_t n, float epsilon,
              float* y);
void glu(const float* gate, const float* up, int64_t n, const Gate& how,
         float* y);
void add_rows(const float* a, const float* b, int64_t n, float* y);
void multiply_rows(const float* a, const float* b, int64_t n, float* y);
void scale_row(const float* x, int64_t n, float factor, float* y);
void softcap_row(const float* x, int64_t n, float cap, float* y);
void rope_head(const float* x, const float* cosines, const float* sines,
               int64_t pairs, int64_t d, int32_t style, float* y);
void weighted_sum(const float* x, const float* weights, int64_t count,
                  int64_t n, float* y);
void unary(const float* x, int64_t n, int32_t function, float* y);
void binary(const float* a, int a_step, const float* b, int b_step, int64_t n,
            int32_t function, float* y);
int64_t elements(const ElementsTask& task);
void where(const float* const* from, const int* steps, int64_t n, float* y);
void layer_norm(const float* x, const float* weight, const float* bias,
                int64_t n, float epsilon, int32_t center, float* y);
void softmax(const float* x, int64_t n, float* y);
double sum_elements(const float* x, int64_t n);
void to_f16(const float* x, int64_t n, uint16_t* y);
void windows(const WindowTask& task);
void pixels(const PixelTask& task);
void product(const ProductTask& task);
void panel(const PanelTask& task);
void taps(const TapTask& task);
void tile_columns(const float* x, int64_t step, int64_t rows, int64_t columns,
                  float* tiles, int64_t tile_step);
void transpose(const float* x, int64_t step, int64_t rows, int64_t columns,
               float* y, int64_t y_step);
void scan_head(const ScanRow& row, int64_t p, int64_t n, float* state,
               float* y);
void scan_channels(const ChannelRow& row, int64_t count, int64_t n,
                   float* state, float* y);
void delta_head(const DeltaRow& row, int64_t p, int64_t n, float* state,
                float* y);
void fading_head(const FadingRow& row, int64_t p, int64_t n, float* state,
                 float* y);
void multiply_add(const float* x, const float* weights, int64_t n, float* y);
void product_f64(const double* a, int64_t step, int64_t rows,
                 const double* panel, int64_t k, double* y);
void widen(const uint16_t* x, int64_t n, rc_dtype type, float* y);

}  // namespace rc::cpu::RC_CPU_LEVEL
