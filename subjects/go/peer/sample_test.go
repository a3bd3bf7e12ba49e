package peer

import (
	"strings"
	"testing"
)

const header = "phase,user,start_ns,connected_ns,sent_ns,first_byte_ns,end_ns,status,bytes_up,bytes_down,protocol,connection,reused,error,group,resource"

func TestRowsOfOddErrors(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	j := journal{}
	j.add(&sample{phase: warm, connection: noConnection, start: 5, failure: `other: "a", b`})
	if err := j.write(&text); err != nil {
		t.Fatal(err)
	}
	want := header + "\n" + `warm,0,5,,,,,0,0,0,,,0,"other: ""a"", b",,0` + "\n"
	if text.String() != want {
		t.Errorf("%s", text.String())
	}
}
