#!/bin/bash
# How long importing a kernel archive takes beside `tar xf` and `git add` of it.
#
# usage: ci/bench/import.sh ARCHIVE [RUNS]
#
# ARCHIVE is a tarball of kernel source. The three take turns, so that a change
# of the machine's load meets all of them; the medians are printed. Ends with 1
# when the import takes more than 1.5 times as long as `tar xf`.
set -euo pipefail

archive=$(realpath "${1:?usage: import.sh ARCHIVE [RUNS]}")
runs=${2:-3}
here=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/import-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT

cargo build --quiet --manifest-path "$here/Cargo.toml" --bin xtask
xtask=$here/target/debug/xtask

# seconds NAME COMMAND…: appends wall and CPU seconds to $work/NAME
seconds() {
	local name=$1 TIMEFORMAT='%R %U %S'
	shift
	{ time "$@" >/dev/null 2>"$work/log" 3>&-; } 2>"$work/time" || {
		cat "$work/log" >&2
		exit 1
	}
	tail -n 1 "$work/time" | awk '{ print $1, $2 + $3 }' >>"$work/$name"
}

import() {
	XDG_CACHE_HOME=$work/cache "$xtask" bases import "$archive"
}

git_commit() {
	git -C "$work/x" init -q
	git -C "$work/x" add -f .
	git -C "$work/x" -c user.name=b -c user.email=b@localhost commit -qm base
}

cat "$archive" >/dev/null # the first one must not pay for the disk
for ((i = 0; i < runs; i++)); do
	rm -rf "$work/cache" "$work/x"
	mkdir "$work/x"
	seconds import import
	seconds tar tar xf "$archive" -C "$work/x" --strip-components=1
	seconds git git_commit
done

want=$(git -C "$work/x" rev-parse 'HEAD^{tree}')
got=$(git -C "$work"/cache/kseries/store.git for-each-ref --format='%(tree)' refs/bases)
if [ "$want" != "$got" ]; then
	echo "the import's tree is $got, git's is $want" >&2
	exit 1
fi

median() {
	sort -n "$work/$1" | awk -v c="$2" '{ v[NR] = $c } END { print v[int((NR + 1) / 2)] }'
}

printf '%-22s %8s %8s\n' "median of $runs" wall CPU
for what in import tar git; do
	printf '%-22s %7.1fs %7.1fs\n' "$what" "$(median $what 1)" "$(median $what 2)"
done
awk -v i="$(median import 1)" -v t="$(median tar 1)" 'BEGIN {
	printf "import takes %.2f times as long as tar xf (at most 1.50)\n", i / t
	exit i / t > 1.5
}'
