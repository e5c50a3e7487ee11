package runcible

import (
	"math"

	"runcible/internal/native"
)

// op makes a tensor of operands; those that may be missing are nil.
func op(operands []*Tensor, optional int, make func([]native.Tensor, *uintptr) error) (*Tensor, error) {
	proxies := []native.Tensor{}
	for i, operand := range operands {
		if operand == nil && i >= len(operands)-optional {
			proxies = append(proxies, nil)
			continue
		}
		proxy, err := operand.use()
		if err != nil {
			return nil, err
		}
		defer operand.handle.done()
		proxies = append(proxies, proxy)
	}
	return newTensor(func(pointer *uintptr) error { return make(proxies, pointer) })
}

// Matmul is the product of matrices.
//
//runcible:doc rc_op_matmul
func (t *Tensor) Matmul(b *Tensor) (*Tensor, error) {
	return op([]*Tensor{t, b}, 0, func(x []native.Tensor, pointer *uintptr) error {
		return native.Op_matmul(x[0], x[1], pointer)
	})
}

// MatmulTransposed is the product with a transposed matrix.
//
//runcible:doc rc_op_matmul_transposed
func (t *Tensor) MatmulTransposed(b *Tensor) (*Tensor, error) {
	return op([]*Tensor{t, b}, 0, func(x []native.Tensor, pointer *uintptr) error {
		return native.Op_matmul_transposed(x[0], x[1], pointer)
	})
}

// MatmulQuantized is the product with a quantized weight.
//
//runcible:doc rc_op_matmul_quantized
func (t *Tensor) MatmulQuantized(weight *Tensor) (*Tensor, error) {
	return op([]*Tensor{t, weight}, 0, func(x []native.Tensor, pointer *uintptr) error {
		return native.Op_matmul_quantized(x[0], x[1], pointer)
	})
}

// Add adds, element by element, broadcast.
//
//runcible:doc rc_op_add
func (t *Tensor) Add(b *Tensor) (*Tensor, error) {
	return op([]*Tensor{t, b}, 0, func(x []native.Tensor, pointer *uintptr) error {
		return native.Op_add(x[0], x[1], pointer)
	})
}

// Mul multiplies, element by element, broadcast.
//
//runcible:doc rc_op_mul
func (t *Tensor) Mul(b *Tensor) (*Tensor, error) {
	return op([]*Tensor{t, b}, 0, func(x []native.Tensor, pointer *uintptr) error {
		return native.Op_mul(x[0], x[1], pointer)
	})
}

// GatherRows takes rows of a table.
//
//runcible:doc rc_op_gather_rows
func (t *Tensor) GatherRows(ids *Tensor) (*Tensor, error) {
	return op([]*Tensor{t, ids}, 0, func(x []native.Tensor, pointer *uintptr) error {
		return native.Op_gather_rows(x[0], x[1], pointer)
	})
}

// ReLU is x, or 0 where x is below.
func (t *Tensor) ReLU() (*Tensor, error) {
	return t.view(native.Op_relu)
}

// Sigmoid is 1 / (1 + exp(-x)).
func (t *Tensor) Sigmoid() (*Tensor, error) {
	return t.view(native.Op_sigmoid)
}

// SiLU is x / (1 + exp(-x)).
func (t *Tensor) SiLU() (*Tensor, error) {
	return t.view(native.Op_silu)
}

// GELU is 0.5 x (1 + erf(x / sqrt(2))).
func (t *Tensor) GELU() (*Tensor, error) {
	return t.view(native.Op_gelu)
}

// GELUTanh is 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
func (t *Tensor) GELUTanh() (*Tensor, error) {
	return t.view(native.Op_gelu_tanh)
}

// GELUQuick is x / (1 + exp(-1.702 x)).
func (t *Tensor) GELUQuick() (*Tensor, error) {
	return t.view(native.Op_gelu_quick)
}

// Tanh is the hyperbolic tangent.
func (t *Tensor) Tanh() (*Tensor, error) {
	return t.view(native.Op_tanh)
}

// Dequantize gives the numbers as F32.
func (t *Tensor) Dequantize() (*Tensor, error) {
	return t.view(native.Op_dequantize)
}

// Quantize gives the numbers in another type.
//
//runcible:doc rc_op_quantize
func (t *Tensor) Quantize(dtype DType) (*Tensor, error) {
	return t.view(func(tensor native.Tensor, pointer *uintptr) error {
		return native.Op_quantize(tensor, int32(dtype), pointer)
	})
}

// Softmax makes probabilities.
//
//runcible:doc rc_op_softmax
func (t *Tensor) Softmax(dimension int32) (*Tensor, error) {
	return t.view(func(tensor native.Tensor, pointer *uintptr) error {
		return native.Op_softmax(tensor, dimension, pointer)
	})
}

// Function is a function of one number that FusedLinear applies.
type Function int32

const (
	NoFunction Function = 0
	ReLU       Function = 1
	Sigmoid    Function = 2
	Tanh       Function = 3
	SiLU       Function = 4
	GELU       Function = 5
	GELUTanh   Function = 6
	GELUQuick  Function = 7
)

// FusedLinear is a layer; the bias may be nil.
//
//runcible:doc rc_op_fused_linear
func (t *Tensor) FusedLinear(weight, bias *Tensor, function Function) (*Tensor, error) {
	return op([]*Tensor{t, weight, bias}, 1, func(x []native.Tensor, pointer *uintptr) error {
		return native.Op_fused_linear(x[0], x[1], x[2], int32(function), pointer)
	})
}

// RMSNorm divides by the root of the mean square; the weight may be nil.
//
//runcible:doc rc_op_rms_norm
func (t *Tensor) RMSNorm(weight *Tensor, epsilon float32) (*Tensor, error) {
	return op([]*Tensor{t, weight}, 1, func(x []native.Tensor, pointer *uintptr) error {
		return native.Op_rms_norm(x[0], x[1], epsilon, pointer)
	})
}

// LayerNorm gives mean 0 and variance 1; weight and bias may be nil.
//
//runcible:doc rc_op_layer_norm
func (t *Tensor) LayerNorm(weight, bias *Tensor, epsilon float32) (*Tensor, error) {
	return op([]*Tensor{t, weight, bias}, 2, func(x []native.Tensor, pointer *uintptr) error {
		return native.Op_layer_norm(x[0], x[1], x[2], epsilon, pointer)
	})
}

// RopeOptions of the zero value are the library's defaults.
type RopeOptions struct {
	// Pairs i with i + pairs instead of 2i with 2i + 1.
	Halves bool
	//runcible:doc rc_rope_options.dimensions
	Dimensions int32
	// Pair i turns by position * theta^(-2 i / dimensions); 0: 10000.
	Theta float32
	// Of the elements that turn; 0: 1.
	Scale float32
}

// Rope is rotary position embedding; frequencies may be nil.
//
//runcible:doc rc_op_rope
func (t *Tensor) Rope(positions, frequencies *Tensor, options RopeOptions) (*Tensor, error) {
	o := native.NewRope_options()
	defer native.DeleteRope_options(o)
	if err := made(o); err != nil {
		return nil, err
	}
	if options.Halves {
		o.SetStyle(int32(native.ROPE_HALVES))
	}
	o.SetDimensions(options.Dimensions)
	if options.Theta != 0 {
		o.SetTheta(options.Theta)
	}
	if options.Scale != 0 {
		o.SetScale(options.Scale)
	}
	return op([]*Tensor{t, positions, frequencies}, 1, func(x []native.Tensor, pointer *uintptr) error {
		return native.Op_rope(x[0], x[1], x[2], o, pointer)
	})
}

// AttentionOptions of the zero value are the library's defaults.
type AttentionOptions struct {
	//runcible:doc rc_attention_options.scale
	Scale float32
	//runcible:doc rc_attention_options.softcap
	Softcap float32
	//runcible:doc rc_attention_options.causal
	Causal bool
}

// Attention is that of queries to keys and values.
//
//runcible:doc rc_op_attention
func (t *Tensor) Attention(k, v *Tensor, options AttentionOptions) (*Tensor, error) {
	o := native.NewAttention_options()
	defer native.DeleteAttention_options(o)
	if err := made(o); err != nil {
		return nil, err
	}
	o.SetScale(options.Scale)
	o.SetSoftcap(options.Softcap)
	o.SetCausal(flag(options.Causal))
	return op([]*Tensor{t, k, v}, 0, func(x []native.Tensor, pointer *uintptr) error {
		return native.Op_attention(x[0], x[1], x[2], o, pointer)
	})
}

// AllDimensions, as a dimension to reduce: all of them; the result has shape
// [1].
const AllDimensions int32 = math.MinInt32

func (t *Tensor) reduce(by func(native.Tensor, int32, int32, *uintptr) error, dimension int32, keep bool) (*Tensor, error) {
	return t.view(func(tensor native.Tensor, pointer *uintptr) error {
		return by(tensor, dimension, flag(keep), pointer)
	})
}

// Sum adds over a dimension.
//
//runcible:doc rc_op_reduce_sum
func (t *Tensor) Sum(dimension int32, keep bool) (*Tensor, error) {
	return t.reduce(native.Op_reduce_sum, dimension, keep)
}

// Mean is the mean over a dimension.
//
//runcible:doc rc_op_reduce_sum
func (t *Tensor) Mean(dimension int32, keep bool) (*Tensor, error) {
	return t.reduce(native.Op_reduce_mean, dimension, keep)
}

// Max is the maximum over a dimension.
//
//runcible:doc rc_op_reduce_sum
func (t *Tensor) Max(dimension int32, keep bool) (*Tensor, error) {
	return t.reduce(native.Op_reduce_max, dimension, keep)
}

// Argmax finds the largest number.
//
//runcible:doc rc_op_argmax
func (t *Tensor) Argmax(dimension int32, keep bool) (*Tensor, error) {
	return t.reduce(native.Op_argmax, dimension, keep)
}

// Conv2DOptions of the zero value are the library's defaults. Pairs are down and
// across.
type Conv2DOptions struct {
	Stride   [2]int32 // at least 1; zeros: 1
	Padding  [2]int32 // zeros on each side
	Dilation [2]int32 // distance between elements of the window; zeros: 1
	Groups   int32    // each with its own channels and outputs; 0: 1
}

// Conv2D is a cross-correlation; the bias may be nil.
//
//runcible:doc rc_op_conv2d
func (t *Tensor) Conv2D(weight, bias *Tensor, options Conv2DOptions) (*Tensor, error) {
	o := native.NewConv2d_options()
	defer native.DeleteConv2d_options(o)
	if err := made(o); err != nil {
		return nil, err
	}
	if options.Stride != [2]int32{} {
		o.Set_stride(options.Stride[0], options.Stride[1])
	}
	o.Set_padding(options.Padding[0], options.Padding[1])
	if options.Dilation != [2]int32{} {
		o.Set_dilation(options.Dilation[0], options.Dilation[1])
	}
	if options.Groups != 0 {
		o.SetGroups(options.Groups)
	}
	return op([]*Tensor{t, weight, bias}, 1, func(x []native.Tensor, pointer *uintptr) error {
		return native.Op_conv2d(x[0], x[1], x[2], o, pointer)
	})
}
