// Silugate defines a custom op and runs it as one op of a graph: silu(x) times a
// gate, which many models compute between two products.
package main

import (
	"context"
	"fmt"
	"log"
	"math"

	"runcible"
)

// siluGate computes the elements from Begin to before End; other goroutines
// compute the others.
func siluGate(call *runcible.CustomCall) error {
	x := runcible.Elements[float32](call.Inputs[0])
	gate := runcible.Elements[float32](call.Inputs[1])
	y := runcible.Elements[float32](call.Outputs[0])
	for i := call.Begin; i < call.End; i++ {
		y[i] = x[i] / (1 + float32(math.Exp(float64(-x[i])))) * gate[i]
	}
	return nil
}

func run() error {
	backend, err := runcible.OpenBackend("cpu", runcible.BackendOptions{})
	if err != nil {
		return err
	}
	op, err := runcible.NewCustomOp(runcible.CustomOpOptions{
		Name: "silu_gate",
		// All three have the same shape, whatever it is.
		Signature: "x F32 [...], gate F32 [...] -> y F32 [...]",
		Function:  siluGate,
		Items:     "elements(y)",
	})
	if err != nil {
		return err
	}
	x, err := runcible.NewTensor(backend, []float32{-1, 0, 1, 2}, 4)
	if err != nil {
		return err
	}
	gate, err := runcible.NewTensor(backend, []float32{2, 2, 2, 0.5}, 4)
	if err != nil {
		return err
	}
	// Recorded once; it runs with any numbers of these shapes.
	graph, err := runcible.RecordGraph(backend, []*runcible.Tensor{x, gate},
		func(inputs []*runcible.Tensor) ([]*runcible.Tensor, error) {
			gated, err := op.Compute(inputs)
			if err != nil {
				return nil, err
			}
			sum, err := gated[0].Add(inputs[0])
			return []*runcible.Tensor{sum}, err
		})
	if err != nil {
		return err
	}
	outputs, err := graph.Run(context.Background(), x, gate)
	if err != nil {
		return err
	}
	numbers, err := runcible.Numbers[float32](outputs[0])
	for _, y := range numbers {
		fmt.Printf("%.4f\n", y)
	}
	return err
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}
