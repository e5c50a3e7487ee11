package runcible

import "runcible/internal/native"

// Discover finds the devices of this machine, and the backends that are not
// available. The text is the device that "auto" would choose, such as "cpu:0"; ""
// if there is no device to choose.
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
		device, err := readDevice(func(report native.Device_report) error {
			return native.Device_list_get(list, i, report)
		})
		if err != nil {
			return nil, "", err
		}
		devices = append(devices, device)
	}
	return devices, native.Device_list_automatic(list), nil
}
