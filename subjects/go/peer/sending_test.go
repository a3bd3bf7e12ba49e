package peer

import (
	"strings"
	"testing"
)

// What the settings do in a build that has the variables is seen by `h123 verify go`.
func TestHowItSendsIsTakenOrRefused(t *testing.T) {
	t.Cleanup(func() { maxDatagram = 0 })
	for _, c := range []struct {
		set             func(string) error
		text, complaint string
	}{
		{setInitialWindow, "", ""},
		{setInitialWindow, "0", "1 to 1000"},
		{setInitialWindow, "1001", "1 to 1000"},
		{setInitialWindow, "ten", "1 to 1000"},
		{setInitialWindow, "10", "constant in this build"},
		{setPacing, "", ""},
		{setPacing, "on", "off, or empty"},
		{setPacing, "off", "this build always paces"},
		{setMaxDatagram, "", ""},
		{setMaxDatagram, "1199", "1200 to 1452"},
		{setMaxDatagram, "1453", "1200 to 1452"},
		{setMaxDatagram, "1448", ""},
	} {
		err := c.set(c.text)
		if c.complaint == "" && err != nil || c.complaint != "" && (err == nil || !strings.Contains(err.Error(), c.complaint)) {
			t.Errorf("%q: %v", c.text, err)
		}
	}
}
