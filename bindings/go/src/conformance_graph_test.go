package runcible_test

import (
	"context"
	"fmt"
	"os"

	"runcible"
)

// The steps of graphs, and of opening beside other work.

func (r *runner) tensors(given any) (made []*runcible.Tensor) {
	for _, name := range texts(given) {
		made = append(made, r.tensor(name))
	}
	return made
}

func apply(name string, values []*runcible.Tensor) (*runcible.Tensor, error) {
	switch name {
	case "add":
		return values[0].Add(values[1])
	case "mul":
		return values[0].Mul(values[1])
	case "relu":
		return values[0].ReLU()
	}
	return nil, fmt.Errorf("there is no op %s", name)
}

func record(r *runner, s step) error {
	backend, err := runcible.OpenBackend(s.text("backend"), runcible.BackendOptions{})
	if err != nil {
		return err
	}
	graph, err := runcible.RecordGraph(backend, r.tensors(s["like"]), func(values []*runcible.Tensor) ([]*runcible.Tensor, error) {
		for _, op := range s["ops"].([]any) {
			var operands []*runcible.Tensor
			for _, i := range op.([]any)[1:] {
				operands = append(operands, values[int(i.(float64))])
			}
			made, err := apply(op.([]any)[0].(string), operands)
			if err != nil {
				return nil, err
			}
			values = append(values, made)
		}
		var outputs []*runcible.Tensor
		for _, i := range s["outputs"].([]any) {
			outputs = append(outputs, values[int(i.(float64))])
		}
		return outputs, nil
	})
	if err == nil {
		r.set(s.text("as"), graph)
	}
	return err
}

func runGraph(r *runner, s step) error {
	made, err := r.get(s.text("graph")).(*runcible.Graph).Run(context.Background(), r.tensors(s["inputs"])...)
	for i, each := range made {
		r.set(texts(s["as"])[i], each)
	}
	return err
}

// later runs beside the goroutine that waits for it.
func later(call func() error) error {
	done := make(chan error)
	go func() { done <- call() }()
	return <-done
}

func runLater(r *runner, s step) error {
	return later(func() error { return runGraph(r, s) })
}

func openLater(_ *runner, s step) error {
	last := -1.0
	return later(func() error {
		backend, err := runcible.OpenBackendContext(context.Background(), s.text("spec"), runcible.BackendOptions{
			Progress: func(fraction float64) error { last = fraction; return nil }})
		if err != nil {
			return err
		}
		device, err := backend.Device()
		if err != nil {
			return err
		}
		return same([]any{device.ID, last}, []any{s["expect"], 1.0})
	})
}

func discoverLater(_ *runner, s step) error {
	return later(func() error {
		devices, _, err := runcible.Discover()
		for _, device := range devices {
			if device.ID == s["expect"] {
				return err
			}
		}
		return fmt.Errorf("%v among %v: %w", s["expect"], devices, err)
	})
}

func switchBackend(_ *runner, s step) error {
	backend, err := runcible.OpenBackend(s.text("from"), runcible.BackendOptions{})
	if err != nil {
		return err
	}
	if err := backend.Switch(context.Background(), s.text("spec"), runcible.BackendSwitchOptions{}); err != nil {
		return err
	}
	device, err := backend.Device()
	if err != nil {
		return err
	}
	return same([]any{device.ID}, []any{s["expect"]})
}

func newCustomOp(r *runner, s step) error {
	op, err := runcible.NewCustomOp(runcible.CustomOpOptions{
		Name: s.text("name"), Signature: s.text("signature"), Attributes: s.text("attributes"), Items: s.text("items"),
		Library: os.Getenv("RUNCIBLE_CUSTOM_OP"), Symbol: s.text("name")})
	if err == nil {
		r.set(s.text("as"), op)
	}
	return err
}

func compute(r *runner, s step) error {
	made, err := r.get(s.text("op")).(*runcible.CustomOp).Compute(r.tensors(s["inputs"]), s["scale"].(float64))
	for i, each := range made {
		r.set(texts(s["as"])[i], each)
	}
	return err
}
