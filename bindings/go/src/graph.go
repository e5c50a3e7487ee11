package runcible

import (
	"context"
	"time"

	"runcible/internal/native"
)

// Graph is a recorded function of tensors, which runs many times as one. Chains
// of elementwise ops run in one pass over memory, and matrix products run
// together with the bias and the function that follow them; the numbers are those
// of the same ops run one by one.
type Graph struct {
	handle  *handle[native.Graph]
	outputs int
}

// RecordGraph calls a function with tensors that stand for the inputs and have
// the types and shapes of the given tensors. The ops on them are recorded and not
// run. The tensors that the function returns are the outputs, which each run
// computes as new tensors; other tensors that it uses are constants. An op
// returns an error for shapes and types that do not fit.
func RecordGraph(backend *Backend, like []*Tensor, record func([]*Tensor) ([]*Tensor, error)) (*Graph, error) {
	b, err := backend.use()
	if err != nil {
		return nil, err
	}
	defer backend.handle.done()
	var pointer uintptr
	if err := native.Graph_begin(b, &pointer); err != nil {
		return nil, err
	}
	graph := &Graph{newHandle[native.Graph]("Graph",
		native.SwigcptrGraph(pointer), native.DeleteGraph), 0}
	if err := graph.record(like, record); err != nil {
		graph.handle.close()
		return nil, err
	}
	return graph, nil
}

func (g *Graph) record(like []*Tensor, record func([]*Tensor) ([]*Tensor, error)) error {
	standIns := make([]*Tensor, len(like))
	defer func() {
		for _, each := range standIns {
			if each != nil {
				each.handle.close()
			}
		}
	}()
	for i, each := range like {
		made, err := g.standIn(each)
		if err != nil {
			return err
		}
		standIns[i] = made
	}
	outputs, err := record(standIns)
	if err != nil {
		return err
	}
	g.outputs = len(outputs)
	return withTensors(outputs, func(list native.Tensor_list) error {
		return g.with(func(graph native.Graph) error {
			return native.Graph_finish(graph, list)
		})
	})
}

// standIn makes an input with the type and shape of a tensor.
func (g *Graph) standIn(like *Tensor) (*Tensor, error) {
	dtype, err := like.DType()
	if err != nil {
		return nil, err
	}
	shape, err := like.Shape()
	if err != nil {
		return nil, err
	}
	graph, err := g.use()
	if err != nil {
		return nil, err
	}
	defer g.handle.done()
	return newTensor(func(pointer *uintptr) error {
		return native.Graph_input(graph, int32(dtype), shape, pointer)
	})
}

// withTensors calls a function with the library's list of these tensors.
func withTensors(tensors []*Tensor, call func(native.Tensor_list) error) error {
	list := native.NewTensor_list()
	if err := made(list); err != nil {
		return err
	}
	defer native.DeleteTensor_list(list)
	for _, each := range tensors {
		if err := each.with(list.Add); err != nil {
			return err
		}
	}
	return call(list)
}

// Run computes the outputs for these inputs, which have the number, types and
// shapes that were recorded. If the context is cancelled, all runs of the graph
// in progress end.
func (g *Graph) Run(ctx context.Context, inputs ...*Tensor) ([]*Tensor, error) {
	if err := contextError(ctx); err != nil {
		return nil, err
	}
	graph, err := g.use()
	if err != nil {
		return nil, err
	}
	defer g.handle.done()
	results := native.NewTensor_list()
	if err := made(results); err != nil {
		return nil, err
	}
	defer native.DeleteTensor_list(results)
	defer cancelWhenDone(ctx, func() {
		_ = native.Graph_cancel(graph) // it fails only for an invalid handle
	})()
	err = withTensors(inputs, func(list native.Tensor_list) error {
		return native.Graph_compute(graph, list, untilDeadline(ctx), results)
	})
	// The run may have ended, or not have begun, when the context was done.
	if cause := contextError(ctx); cause != nil {
		return nil, cause
	}
	if err != nil {
		return nil, err
	}
	return tensorsOf(results, g.outputs)
}

// tensorsOf returns the tensors of a list of the library.
func tensorsOf(list native.Tensor_list, count int) ([]*Tensor, error) {
	tensors := make([]*Tensor, count)
	for i := range tensors {
		var err error
		tensors[i], err = newTensor(func(pointer *uintptr) error {
			return native.Tensor_of_list(list, int64(i), pointer)
		})
		if err != nil {
			return nil, err
		}
	}
	return tensors, nil
}

// Cancel ends the runs that are in progress.
//
//runcible:doc rc_graph_cancel
func (g *Graph) Cancel() error {
	return g.with(native.Graph_cancel)
}

// untilDeadline returns the time left in milliseconds; 0 without a deadline.
func untilDeadline(ctx context.Context) int64 {
	deadline, ok := ctx.Deadline()
	if !ok {
		return 0
	}
	if left := milliseconds(time.Until(deadline)); left > 0 {
		return left
	}
	return 1
}

// cancelWhenDone calls cancel if the context is done before end is called. A call
// of end waits until cancel has returned.
func cancelWhenDone(ctx context.Context, cancel func()) (end func()) {
	over, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-over:
		case <-ctx.Done():
			cancel()
		}
	}()
	return func() {
		close(over)
		<-watched
	}
}
