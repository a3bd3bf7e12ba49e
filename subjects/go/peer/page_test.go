package peer

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// pageOf makes a workload one of the kind page: of each resource its size, initiator (-1: none), urgency, run_ns.
func pageOf(p protocol, resources ...[4]int) fields {
	page := make([]fields, len(resources))
	for i, r := range resources {
		page[i] = fields{
			"path": "/bytes/" + strconv.Itoa(r[0]), "headers": []any{}, "initiator": any(r[1]), "urgency": r[2], "run_ns": r[3],
		}
		if r[1] < 0 {
			page[i]["initiator"] = nil
		}
	}
	connections, atOnce := 1, 100
	if p == h1 {
		connections, atOnce = 2, 1
	}
	return fields{
		"kind": "page", "page": page, "at_once": atOnce, "connections": connections, "users": 2, "requests": 2, "warmup": 1,
		"cold": true, "method": absent, "path": absent, "upload_bytes": absent,
	}
}

const runNs = 20_000_000

func small(p protocol) fields {
	return pageOf(p, [4]int{1000, -1, 0, runNs}, [4]int{2000, 0, 3, 0}, [4]int{3000, 0, 5, 0}, [4]int{4000, 0, 1, 0}, [4]int{500, 3, 0, 0})
}

// visitsOf are the rows of each visit by resource.
func visitsOf(t *testing.T, d driven) map[[2]string]map[string]record {
	t.Helper()
	found := map[[2]string]map[string]record{}
	for _, row := range d.rows {
		key := [2]string{row["user"], row["group"]}
		if found[key] == nil {
			found[key] = map[string]record{}
		}
		found[key][row["resource"]] = row
	}
	return found
}

func TestAPageIsLoadedAsItsGraphSays(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		d := serveProcess(t, p).drive(t, small(p))
		d.mustSucceed(t, 2*3*5)
		if d.count("phase", "warmup") != 10 || d.count("phase", "warm") != 20 {
			t.Error("phases are not 10 warmup, 20 warm")
		}
		visits := visitsOf(t, d)
		if len(visits) != 6 {
			t.Fatalf("%d visits", len(visits))
		}
		opened := map[string]bool{}
		for key, visit := range visits {
			for resource, initiator := range map[string]string{"1": "0", "2": "0", "3": "0", "4": "3"} {
				wait := visit[resource].number(t, "start_ns") - visit[initiator].number(t, "end_ns")
				if initiator == "0" && wait < runNs || wait < 0 {
					t.Errorf("visit %v: resource %s was asked for %d ns after its initiator", key, resource, wait)
				}
			}
			own := map[string]bool{}
			for _, row := range visit {
				own[row["connection"]] = true
			}
			if want := map[bool]int{true: 2, false: 1}[p == h1]; len(own) != want {
				t.Errorf("visit %v has %d connections", key, len(own))
			}
			for connection := range own {
				if opened[connection] {
					t.Errorf("visit %v shares connection %s", key, connection)
				}
				opened[connection] = true
			}
		}
	})
}

// hosted gives a host to each of the page's resources that is named.
func hosted(page fields, hosts map[int]string) fields {
	for resource, host := range hosts {
		page["page"].([]fields)[resource]["host"] = host
	}
	return page
}

// Each host has connections of its own, and is called by its name, in TLS and in requests; one that has no room holds
// up no other.
func TestEachHostHasConnectionsOfItsOwn(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		named := "b." + serverName
		server := serveHandler(t, p, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			want := serverName
			if r.URL.Path == "/bytes/2000" || r.URL.Path == "/bytes/3000" {
				want = named
			}
			if r.Host != want || r.TLS.ServerName != want {
				http.Error(w, r.Host+" "+r.TLS.ServerName, http.StatusMisdirectedRequest)
				return
			}
			count, _ := blockBytes(r.URL.Path)
			announce(w, count)
			_, _ = w.Write(block[:count])
		}))
		d := server.drive(t, hosted(small(p), map[int]string{1: named, 2: named}))
		d.mustSucceed(t, 2*3*5)
		for key, visit := range visitsOf(t, d) {
			own, other := map[string]bool{}, map[string]bool{}
			for resource, row := range visit {
				if resource == "1" || resource == "2" {
					other[row["connection"]] = true
				} else {
					own[row["connection"]] = true
				}
			}
			if want := map[bool]int{true: 2, false: 1}[p == h1]; len(other) != want || len(own) != 1 {
				t.Errorf("visit %v has %d connections, and %d to the other host", key, len(own), len(other))
			}
			for connection := range own {
				if other[connection] {
					t.Errorf("visit %v: connection %s has requests of both hosts", key, connection)
				}
			}
		}
	})
}

func TestUsersRestBetweenVisits(t *testing.T) {
	t.Parallel()
	const pause = 50_000_000
	d := serveProcess(t, h2).drive(t, with(small(h2), "pause_ns", pause))
	d.mustSucceed(t, 2*3*5)
	visits := visitsOf(t, d)
	for key, visit := range visits {
		n, _ := strconv.Atoi(key[1])
		next, found := visits[[2]string{key[0], strconv.Itoa(n + 1)}]
		if !found {
			continue
		}
		for _, row := range visit {
			if rested := next["0"].number(t, "start_ns") - row.number(t, "end_ns"); rested < pause {
				t.Errorf("visit %v: %d ns until the next one", key, rested)
			}
		}
	}
}

func TestVisitsThatAreNotColdShareConnections(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		page := small(p)
		page["cold"] = false
		d := serveProcess(t, p).drive(t, page)
		d.mustSucceed(t, 2*3*5)
		if want := map[bool]int{true: 4, false: 2}[p == h1]; d.count("reused", "0") != want {
			t.Errorf("%d connections", d.count("reused", "0"))
		}
	})
}

// Two connections for three that are asked for together: the most urgent has the open one, the next opens the other, and
// the least urgent waits for whichever is free first.
func TestTheMostUrgentIsAskedForFirst(t *testing.T) {
	t.Parallel()
	d := serveProcess(t, h1).drive(t, small(h1))
	for key, visit := range visitsOf(t, d) {
		if visit["3"]["reused"] != "1" || visit["1"]["reused"] != "0" || visit["2"]["reused"] != "1" {
			t.Errorf("visit %v: connections %v", key, visit)
		}
		last := visit["2"].number(t, "sent_ns")
		if freed := min(visit["1"].number(t, "end_ns"), visit["3"].number(t, "end_ns")); last < freed {
			t.Errorf("visit %v: three requests on two connections", key)
		}
	}
}

func TestADocumentMayBeLong(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		page := pageOf(p, [4]int{1000, -1, 0, 0})
		page["page"].([]fields)[0]["path"] = "/site/2.json"
		d := serveProcess(t, p).drive(t, page)
		d.mustSucceed(t, 2*3)
		if row := d.rows[0]; row["bytes_down"] != strconv.Itoa(shortAnswer+1) {
			t.Errorf("%s bytes", row["bytes_down"])
		}
	})
}

func TestWhatAsksForMoreAndFailsTakesItAlong(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p protocol) {
		page := small(p)
		page["page"].([]fields)[3]["path"] = "/nothing-here"
		d := serveProcess(t, p).drive(t, page)
		if d.status != 0 || len(d.rows) != 30 {
			t.Fatalf("exit %d, %d rows", d.status, len(d.rows))
		}
		for _, row := range d.rows {
			want := map[string]string{"3": "other: status 404", "4": notAsked}[row["resource"]]
			if row["error"] != want {
				t.Errorf("resource %s: %q", row["resource"], row["error"])
			}
		}
	})
}

func TestBadPages(t *testing.T) {
	t.Parallel()
	server := served{protocol: h2, port: 1, ca: "/nowhere/ca.pem"}
	first := [4]int{1, -1, 0, 0}
	negative := pageOf(h2, first, [4]int{1, 0, 0, -1})
	for said, changes := range map[string]fields{
		"page[0]: initiator":               pageOf(h2, [4]int{1, 0, 0, 0}),
		"page[1]: initiator: must be null": pageOf(h2, first, first),
		"page[1]: initiator: must be an":   pageOf(h2, first, [4]int{1, 2, 0, 0}),
		"page[1]: initiator: must lead to": pageOf(h2, first, [4]int{1, 2, 0, 0}, [4]int{1, 1, 0, 0}),
		"page[1]: run_ns":                  negative,
		"page: must be there":              {"kind": "page", "method": absent, "path": absent, "upload_bytes": absent},
		"rate: must be null":               with(pageOf(h2, first), "rate", 5.0),
		"gaps_ns: must be not there":       with(pageOf(h2, first), "gaps_ns", []int{1}),
		"at_once: must be 1 or more":       with(pageOf(h2, first), "at_once", 0),
		"connections: must be a number":    with(pageOf(h2, first), "connections", "shared"),
		"page: must be without a method":   with(pageOf(h2, first), "method", "GET"),
		"pause_ns: must be 1 or more":      with(pageOf(h2, first), "pause_ns", 0),
		"pause_ns: must be there with":     {"pause_ns": 1},
	} {
		path := server.workloadFile(t, changes)
		status, told := execute(t, "drive", "--workload", path, "--samples", "/nowhere/s", "--facts", "/nowhere/f", "--initial-window", "", "--pacing", "", "--max-datagram", "")
		if status != 2 || !strings.Contains(told, said) {
			t.Errorf("%s: exit %d, %s", said, status, told)
		}
	}
}

func with(changes fields, name string, value any) fields {
	changes[name] = value
	return changes
}
