package runcible

import "runcible/internal/native"

// DeviceKind is what a device is.
type DeviceKind int32

const (
	OtherDevice   DeviceKind = 0
	CPU           DeviceKind = 1
	DiscreteGPU   DeviceKind = 2
	IntegratedGPU DeviceKind = 3
	Accelerator   DeviceKind = 4
	// A GPU interface that runs on the CPU (PoCL, lavapipe).
	SoftwareDevice DeviceKind = 5
)

// Device is one device, or a backend that is not available.
//
//runcible:doc rc_device_report
type Device struct {
	Backend     string
	Description string
	//runcible:doc rc_device_report.index
	Index int32
	Kind  DeviceKind
	//runcible:doc rc_device_report.id
	ID   string
	Name string
	//runcible:doc rc_device_report.reason
	Reason string
	//runcible:doc rc_device_report.total_memory
	TotalMemory uint64
	//runcible:doc rc_device_report.free_memory
	FreeMemory uint64
	//runcible:doc rc_device_report.unified_memory
	UnifiedMemory bool
	//runcible:doc rc_device_report.cores
	Cores int32
	//runcible:doc rc_device_report.features
	Features string
	//runcible:doc rc_device_report.driver
	Driver string
	//runcible:doc rc_device_report.physical_id
	PhysicalID string
}

// describe makes a Device of the report that a function fills.
func describe(fill func(native.Device_report) error) (*Device, error) {
	r := native.NewDevice_report()
	defer native.DeleteDevice_report(r)
	if err := made(r); err != nil {
		return nil, err
	}
	if err := fill(r); err != nil {
		return nil, err
	}
	return &Device{
		Backend:       r.GetBackend(),
		Description:   r.GetDescription(),
		Index:         r.GetIndex(),
		Kind:          DeviceKind(r.GetKind()),
		ID:            r.GetId(),
		Name:          r.GetName(),
		Reason:        r.GetReason(),
		TotalMemory:   r.GetTotal_memory(),
		FreeMemory:    r.GetFree_memory(),
		UnifiedMemory: r.GetUnified_memory() != 0,
		Cores:         r.GetCores(),
		Features:      r.GetFeatures(),
		Driver:        r.GetDriver(),
		PhysicalID:    r.GetPhysical_id(),
	}, nil
}

// Discover finds the devices of this machine, and the backends that are not
// available. The text is what "auto" would choose, "cpu:0"; "" if there is
// nothing to choose.
//
//runcible:doc rc_discover
func Discover() ([]*Device, string, error) {
	if abiError != nil {
		return nil, "", abiError
	}
	var pointer uintptr
	if err := native.Discover(&pointer); err != nil {
		return nil, "", err
	}
	list := native.SwigcptrDevice_list(pointer)
	defer native.DeleteDevice_list(list)
	var devices []*Device
	for i := int64(0); i < native.Device_list_count(list); i++ {
		device, err := describe(func(report native.Device_report) error {
			return native.Device_list_get(list, i, report)
		})
		if err != nil {
			return nil, "", err
		}
		devices = append(devices, device)
	}
	return devices, native.Device_list_automatic(list), nil
}
