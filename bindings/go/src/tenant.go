package runcible

import "runcible/internal/native"

// Tenant is a party that uses devices.
//
//runcible:doc rc_tenant
type Tenant struct {
	handle *handle[native.Tenant]
}

// NoLimit, as a limit of TenantOptions, removes the limit, as every negative number
// does; zero leaves it as it is.
const NoLimit = -1

// NewTenant makes a tenant.
//
//runcible:doc rc_tenant_create
func NewTenant(options TenantOptions) (*Tenant, error) {
	if abiError != nil {
		return nil, abiError
	}
	o, err := options.native()
	if err != nil {
		return nil, err
	}
	defer native.DeleteTenant_options(o)
	var pointer uintptr
	if err := native.Tenant_create(o, &pointer); err != nil {
		return nil, err
	}
	return &Tenant{newHandle[native.Tenant]("Tenant",
		native.SwigcptrTenant(pointer), native.DeleteTenant)}, nil
}

// Change changes the weight and the limits.
//
//runcible:doc rc_tenant_change
func (t *Tenant) Change(options TenantOptions) error {
	o, err := options.native()
	if err != nil {
		return err
	}
	defer native.DeleteTenant_options(o)
	return t.with(func(tenant native.Tenant) error {
		return native.Tenant_change(tenant, o)
	})
}

// Metrics returns what the tenant has used, as JSON.
//
//runcible:doc RC_METRICS_JSON
func (t *Tenant) Metrics() ([]byte, error) {
	text, err := t.metrics(native.METRICS_JSON)
	return []byte(text), err
}

// OpenMetrics returns what the tenant has used, as text.
//
//runcible:doc RC_METRICS_OPENMETRICS
func (t *Tenant) OpenMetrics() (string, error) {
	return t.metrics(native.METRICS_OPENMETRICS)
}

func (t *Tenant) metrics(format int) (text string, err error) {
	err = t.with(func(tenant native.Tenant) error {
		var memory native.Memory
		if err := native.Tenant_metrics(tenant, int32(format), &memory); err != nil {
			return err
		}
		text = memory.TakeText()
		return nil
	})
	return text, err
}

// Metrics returns what all tenants of the process that still exist have used, in the
// form of Tenant.Metrics. Tenants with the same name are added up.
func Metrics() ([]byte, error) {
	text, err := allMetrics(native.METRICS_JSON)
	return []byte(text), err
}

// OpenMetrics returns the same numbers in the text format of OpenMetrics.
func OpenMetrics() (string, error) {
	return allMetrics(native.METRICS_OPENMETRICS)
}

func allMetrics(format int) (string, error) {
	if abiError != nil {
		return "", abiError
	}
	var memory native.Memory
	if err := native.All_tenant_metrics(int32(format), &memory); err != nil {
		return "", err
	}
	return memory.TakeText(), nil
}

// Bill returns what the tenant owes, as JSON. The prices, and the earlier result of
// Metrics that the bill continues, which may be nil, are JSON as a string or bytes,
// or values that encoding/json encodes.
//
//runcible:doc rc_tenant_bill
func (t *Tenant) Bill(prices, since any) (bill []byte, err error) {
	list, err := jsonName("prices", prices)
	if err != nil {
		return nil, err
	}
	var before native.Name
	if since != nil {
		if before, err = jsonName("since", since); err != nil {
			return nil, err
		}
	}
	err = t.with(func(tenant native.Tenant) error {
		var memory native.Memory
		if err := native.Tenant_bill(tenant, list, before, &memory); err != nil {
			return err
		}
		bill = []byte(memory.TakeText())
		return nil
	})
	return bill, err
}

// jsonName returns the JSON of an argument of this name, for C.
func jsonName(what string, value any) (native.Name, error) {
	text, err := toJSON(what, value)
	if err != nil {
		return "", err
	}
	return makeName(what, text)
}

// limit returns a limit as the library has it: 0 is none.
func limit[N int32 | int64](value N) N {
	if value < 0 {
		return 0
	}
	return value
}
