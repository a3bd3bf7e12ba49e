package peer

import (
	"testing"
)

func TestAlarmIsNeverEarly(t *testing.T) {
	t.Parallel()
	a, err := newAlarm()
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	for i := range 20 {
		due := now() + int64(i)*200_000
		if err := a.wait(t.Context(), due); err != nil || now() < due {
			t.Fatal(err, now()-due)
		}
	}
}
