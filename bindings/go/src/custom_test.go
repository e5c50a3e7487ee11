package runcible_test

import (
	"errors"
	"math"
	"os"
	"strings"
	"sync"
	"testing"

	"runcible"
)

var softsignInputs = []float32{-4, -1, 0, 1, 3}

func softsign(call *runcible.CustomCall) error {
	x := runcible.Elements[float32](call.Inputs[0])
	y := runcible.Elements[float32](call.Outputs[0])
	for i := call.Begin; i < call.End; i++ {
		y[i] = x[i] / (1 + float32(math.Abs(float64(x[i]))*call.Attributes[0]))
	}
	return nil
}

func softsignOptions() runcible.CustomOpOptions {
	return runcible.CustomOpOptions{
		Name:       "softsign",
		Signature:  "x F32 [...] -> y F32 [...]",
		Attributes: "scale float",
		Items:      "elements(x)",
		OpenclC: "size_t i = get_global_id(0);\n" +
			"if (i < x_elements) y[i] = x[i] / (1 + fabs(x[i]) * scale);",
		Grid: "elements(x)",
	}
}

// isSoftsign compares with the formula, in double precision.
func isSoftsign(t *testing.T, found *runcible.Tensor, x []float32, scale float64, positive bool) {
	t.Helper()
	for i, y := range must(runcible.Numbers[float32](found)) {
		wanted := float64(x[i]) / (1 + math.Abs(float64(x[i]))*scale)
		if positive {
			wanted = math.Max(wanted, 0)
		}
		if math.Abs(float64(y)-wanted) > 1e-6 {
			t.Errorf("%d: %v, not %v", i, y, wanted)
		}
	}
}

func TestCustomOpsComputeAndRecord(t *testing.T) {
	ofGo, ofC := softsignOptions(), softsignOptions()
	ofGo.Function = softsign
	ofC.Library, ofC.Symbol = os.Getenv("RUNCIBLE_CUSTOM_OP"), "softsign"
	for _, options := range []runcible.CustomOpOptions{ofGo, ofC} {
		op, err := runcible.NewCustomOp(options)
		check(t, err)
		defer op.Close()
		for _, device := range []string{"cpu", "reference", "opencl"} {
			backend, err := runcible.OpenBackend(device, runcible.BackendOptions{})
			if err != nil && device == "opencl" {
				continue
			}
			check(t, err)
			x := must(runcible.NewTensor(backend, softsignInputs, 5))
			isSoftsign(t, must(op.Compute([]*runcible.Tensor{x}, 0.5))[0], softsignInputs, 0.5, false)
			graph := must(runcible.RecordGraph(backend, []*runcible.Tensor{x}, func(in []*runcible.Tensor) ([]*runcible.Tensor, error) {
				made, err := op.Compute(in, 2)
				if err != nil {
					return nil, err
				}
				return []*runcible.Tensor{must(made[0].ReLU())}, nil
			}))
			isSoftsign(t, must(graph.Run(background, x))[0], softsignInputs, 2, true)
			check(t, graph.Close())
			check(t, backend.Close())
		}
	}
}

func TestCustomOpsWithManyItemsAndTypes(t *testing.T) {
	backend := cpu(t)
	var mutex sync.Mutex
	seen := make(map[int64]int)
	op := must(runcible.NewCustomOp(runcible.CustomOpOptions{
		Signature: "x I32 [m, n], w F64 [n] -> y F64 [m], z I32 [m, n]",
		Items:     "m",
		Function: func(call *runcible.CustomCall) error {
			x, w := runcible.Elements[int32](call.Inputs[0]), runcible.Elements[float64](call.Inputs[1])
			y, z := runcible.Elements[float64](call.Outputs[0]), runcible.Elements[int32](call.Outputs[1])
			n := call.Inputs[0].Shape[1]
			for row := call.Begin; row < call.End && !call.Stopped(); row++ {
				mutex.Lock()
				seen[row]++
				mutex.Unlock()
				y[row] = 0
				for i := row * n; i < row*n+n; i++ {
					y[row] += float64(x[i]) * w[i-row*n]
					z[i] = -x[i]
				}
			}
			return nil
		},
	}))
	x := must(runcible.NewTensor(backend, []int32{1, 2, 3, 4, 5, 6}, 3, 2))
	w := must(runcible.NewTensor(backend, []float64{10, 0.5}, 2))
	made := must(op.Compute([]*runcible.Tensor{x, w}))
	if y := must(runcible.Numbers[float64](made[0])); y[0] != 11 || y[1] != 32 || y[2] != 53 {
		t.Error(y)
	}
	if z := must(runcible.Numbers[int32](made[1])); z[0] != -1 || z[5] != -6 {
		t.Error(z)
	}
	if len(seen) != 3 || seen[0] != 1 || seen[1] != 1 || seen[2] != 1 {
		t.Error(seen)
	}
}

func TestCustomOpErrors(t *testing.T) {
	backend := cpu(t)
	x := must(runcible.NewTensor(backend, softsignInputs, 5))
	for _, each := range []struct {
		change func(*runcible.CustomOpOptions)
		is     error
		says   string
	}{
		{func(o *runcible.CustomOpOptions) {
			o.Function = func(*runcible.CustomCall) error { return errors.New("not mine") }
		}, runcible.ErrDevice, "not mine"},
		{func(o *runcible.CustomOpOptions) {
			o.Function = func(*runcible.CustomCall) error { return runcible.ErrQuota }
		}, runcible.ErrQuota, "limit"},
		{func(o *runcible.CustomOpOptions) {
			o.Function = func(call *runcible.CustomCall) error {
				runcible.Elements[int64](call.Inputs[0])
				return nil
			}
		}, runcible.ErrDevice, "panic: the value is of"},
		{func(o *runcible.CustomOpOptions) { o.Library = "/no/such.so" }, runcible.ErrNotFound, "such"},
		{func(o *runcible.CustomOpOptions) { o.Signature = "x F32 [n]" }, runcible.ErrInvalidArgument, "Signature"},
		{func(o *runcible.CustomOpOptions) { o.OpenclC = "" }, runcible.ErrInvalidArgument, "neither a function nor a kernel"},
		{func(*runcible.CustomOpOptions) {}, runcible.ErrUnsupported, "no function"},
	} {
		options := softsignOptions()
		each.change(&options)
		op, err := runcible.NewCustomOp(options)
		if err == nil {
			_, err = op.Compute([]*runcible.Tensor{x}, 1)
		}
		if !errors.Is(err, each.is) || !strings.Contains(err.Error(), each.says) {
			t.Errorf("%v, not %v", err, each.says)
		}
	}
	options := softsignOptions()
	options.Function = softsign
	op := must(runcible.NewCustomOp(options))
	if _, err := op.Compute([]*runcible.Tensor{x}); !errors.Is(err, runcible.ErrInvalidArgument) {
		t.Error(err)
	}
}
