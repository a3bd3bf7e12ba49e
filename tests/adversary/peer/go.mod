module h123.dev/tests/adversary

go 1.26.0

require (
	github.com/quic-go/qpack v0.6.0
	github.com/quic-go/quic-go v0.65.0
	golang.org/x/net v0.56.0
	golang.org/x/sys v0.47.0
	h123.dev/subjects/go v0.0.0
)

replace h123.dev/subjects/go => ../../../subjects/go

require (
	golang.org/x/crypto v0.54.0 // indirect
	golang.org/x/text v0.40.0 // indirect
)
