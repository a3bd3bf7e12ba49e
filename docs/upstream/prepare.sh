# Names the folder S of installed subjects, and makes a key and a certificate in the folder T.
S=${H123_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/h123}/subjects T=$(mktemp -d)
export S T
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost -keyout "$T/key.pem" \
	-out "$T/cert.pem" 2>"$T/openssl.log"
