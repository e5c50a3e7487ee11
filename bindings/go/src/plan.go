package runcible

import "runcible/internal/native"

// Plan is what a model would take.
//
//runcible:doc rc_plan_report
type Plan struct {
	Weights uint64
	Cache   uint64
	//runcible:doc rc_plan_report.scratch
	Scratch uint64
	Total   uint64
	//runcible:doc rc_plan_report.available
	Available uint64
	//runcible:doc rc_plan_report.fits
	Fits bool
	//runcible:doc rc_plan_report.context_length
	ContextLength int64
	CacheTokens   int64
	//runcible:doc rc_plan_report.largest_context
	LargestContext int64
	//runcible:doc rc_plan_report.transfers
	Transfers uint64
	// Where it would lie; the first is the opened one, even if nothing fits there.
	Devices []DevicePlan
}

// DevicePlan is the part of one device.
//
//runcible:doc rc_plan_device_report
type DevicePlan struct {
	Device    string
	Weights   uint64
	Cache     uint64
	Scratch   uint64
	Total     uint64
	Available uint64
	//runcible:doc rc_plan_device_report.first_layer
	FirstLayer int32
	//runcible:doc rc_plan_device_report.layers
	Layers int32
	//runcible:doc rc_plan_device_report.embedding
	Embedding bool
	//runcible:doc rc_plan_device_report.output
	Output bool
}

// PlanModel tells what LoadModel would take.
//
//runcible:doc rc_model_plan
func PlanModel(path string, backend *Backend, options ModelOptions) (*Plan, error) {
	name, err := makeName("the path", path)
	if err != nil {
		return nil, err
	}
	b, err := backend.use()
	if err != nil {
		return nil, err
	}
	defer backend.handle.done()
	o, err := options.native()
	if err != nil {
		return nil, err
	}
	defer native.DeleteModel_options(o)
	var pointer uintptr
	if err := native.Model_plan(name, o, b, &pointer); err != nil {
		return nil, err
	}
	p := native.SwigcptrPlan(pointer)
	defer native.DeletePlan(p)
	r := native.NewPlan_report()
	defer native.DeletePlan_report(r)
	if err := made(r); err != nil {
		return nil, err
	}
	if err := native.Plan_describe(p, r); err != nil {
		return nil, err
	}
	plan := &Plan{
		Weights:        r.GetWeights(),
		Cache:          r.GetCache(),
		Scratch:        r.GetScratch(),
		Total:          r.GetTotal(),
		Available:      r.GetAvailable(),
		Fits:           r.GetFits() != 0,
		ContextLength:  r.GetContext_length(),
		CacheTokens:    r.GetCache_tokens(),
		LargestContext: r.GetLargest_context(),
		Transfers:      r.GetTransfers(),
	}
	for i := int32(0); i < r.GetDevice_count(); i++ {
		device, err := devicePlan(p, int64(i))
		if err != nil {
			return nil, err
		}
		plan.Devices = append(plan.Devices, device)
	}
	return plan, nil
}

func devicePlan(plan native.Plan, i int64) (device DevicePlan, err error) {
	r := native.NewPlan_device_report()
	defer native.DeletePlan_device_report(r)
	if err := made(r); err != nil {
		return device, err
	}
	if err := native.Plan_device(plan, i, r); err != nil {
		return device, err
	}
	return DevicePlan{
		Device:     r.GetDevice(),
		Weights:    r.GetWeights(),
		Cache:      r.GetCache(),
		Scratch:    r.GetScratch(),
		Total:      r.GetTotal(),
		Available:  r.GetAvailable(),
		FirstLayer: r.GetFirst_layer(),
		Layers:     r.GetLayers(),
		Embedding:  r.GetEmbedding() != 0,
		Output:     r.GetOutput() != 0,
	}, nil
}
