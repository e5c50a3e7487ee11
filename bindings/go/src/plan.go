package runcible

import "runcible/internal/native"

// PlanModel reports the memory that LoadModel would take.
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
	return readPlan(func(report native.Plan_report) error {
		return native.Plan_describe(p, report)
	}, func(i int64, report native.Plan_device_report) error {
		return native.Plan_device(p, i, report)
	}, func(i int64, report native.Plan_offer_report) error {
		return native.Plan_offer(p, i, report)
	})
}
