package runcible

import (
	"math"

	"runcible/internal/native"
)

// op makes a tensor of operands. The last `optional` operands may be nil.
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

// RopeOptions describe a rotary embedding. The zero value has the library's
// defaults.
type RopeOptions struct {
	// Pairs i with i + pairs instead of 2i with 2i + 1.
	Halves bool
	//runcible:doc rc_rope_options.dimensions
	Dimensions int32
	// Pair i turns by position * theta^(-2 i / dimensions); 0: 10000.
	Theta float32
	// Scale of the elements that turn; 0: 1.
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

// AllDimensions, as a dimension to reduce, means all dimensions; the result has
// shape [1].
const AllDimensions int32 = math.MinInt32
