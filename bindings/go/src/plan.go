package runcible

import "runcible/internal/native"

// Plan is what a model would take.
//
//runcible:doc rc_model_plan_report
type Plan struct {
	Weights uint64
	Cache   uint64
	//runcible:doc rc_model_plan_report.scratch
	Scratch uint64
	Total   uint64
	//runcible:doc rc_model_plan_report.available
	Available uint64
	//runcible:doc rc_model_plan_report.fits
	Fits bool
	//runcible:doc rc_model_plan_report.context_length
	ContextLength int64
	CacheTokens   int64
	//runcible:doc rc_model_plan_report.largest_context
	LargestContext int64
	//runcible:doc rc_model_plan_report.transfers
	Transfers uint64
	// Where it would lie; the first is the opened one, even if nothing fits there.
	Devices []DevicePlan
}

// DevicePlan is the part of one device.
//
//runcible:doc rc_device_plan
type DevicePlan struct {
	Device    string
	Weights   uint64
	Cache     uint64
	Scratch   uint64
	Total     uint64
	Available uint64
	//runcible:doc rc_device_plan.first_layer
	FirstLayer int32
	//runcible:doc rc_device_plan.layers
	Layers int32
	//runcible:doc rc_device_plan.embedding
	Embedding bool
	//runcible:doc rc_device_plan.output
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
	r := native.NewModel_plan_report()
	defer native.DeleteModel_plan_report(r)
	if err := made(r); err != nil {
		return nil, err
	}
	if err := native.Model_plan(name, o, b, r); err != nil {
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
	for i := int64(0); i < r.GetDevice_count(); i++ {
		device := r.Device_plan(i)
		plan.Devices = append(plan.Devices, DevicePlan{
			Device:     device.GetDevice(),
			Weights:    device.GetWeights(),
			Cache:      device.GetCache(),
			Scratch:    device.GetScratch(),
			Total:      device.GetTotal(),
			Available:  device.GetAvailable(),
			FirstLayer: device.GetFirst_layer(),
			Layers:     device.GetLayers(),
			Embedding:  device.GetEmbedding() != 0,
			Output:     device.GetOutput() != 0,
		})
	}
	return plan, nil
}
