package peer

import (
	"strings"
	"testing"
)

// What the window does in a build that has the variable is seen by `h123 verify go`.
func TestAnInitialWindowIsTakenOrRefused(t *testing.T) {
	for packets, complaint := range map[string]string{
		"": "", "0": "1 to 1000", "1001": "1 to 1000", "ten": "1 to 1000", "10": "constant in this build",
	} {
		err := setInitialWindow(packets)
		if complaint == "" && err != nil || complaint != "" && (err == nil || !strings.Contains(err.Error(), complaint)) {
			t.Errorf("%q: %v", packets, err)
		}
	}
}
