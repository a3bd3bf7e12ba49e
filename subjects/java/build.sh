#!/bin/sh
# Builds the Java subject in whose folder it is run into the folder $1: lib/, the parts that pom.xml pins and
# parts.sha256 knows, and classes/, compiled from here and from the subject's own src/.
set -eu
prefix=$1
shared=$(dirname "$0")

mvn --batch-mode --quiet dependency:copy-dependencies -DoutputDirectory="$prefix/lib"
if ! (cd "$prefix/lib" && LC_ALL=C sha256sum -- *.jar) | diff parts.sha256 -; then
    echo "what Maven brought is not what parts.sha256 lists (< listed, > brought)" >&2
    exit 1
fi
# shellcheck disable=SC2046 # no source file has a space in its name
javac --release 17 -Xlint:all -Werror -cp "$prefix/lib/*" -d "$prefix/classes" \
    $(find "$shared/src" src -name '*.java')
