#!/usr/bin/env bash
# Generating a series beside git doing the same work on the same base.
#
#   ci/bench/generate.sh [SERIES] [BASE] [RUNS]      default: cpumap-gro 6.12 15
#
# "git" is `git am` of the mails in a checkout of the base (reset between runs,
# not timed) and `git format-patch --cover-letter --base` of the result. Both
# sides run in turn, so that what else the machine does meets both. Prints
# medians in milliseconds, the ratio, and the tool's peak memory.
set -euo pipefail
cd "$(dirname "$0")/../.."
series=${1:-cpumap-gro} base=${2:-6.12} runs=${3:-15}

cargo build --quiet --package xtask
tool=$PWD/target/debug/xtask
work=$(mktemp -d "${TMPDIR:-/tmp}/bench-generate.XXXXXX")
trap 'rm -rf "$work"' EXIT

"$tool" generate-series "$series" --base "$base" --output "$work/mails" >/dev/null 2>&1
store=${XDG_CACHE_HOME:-$HOME/.cache}/kseries/store.git
commit=$("$tool" --format json bases show "$base" | python3 -c 'import json,sys; print(json.load(sys.stdin)[0]["commit"])')
git clone --quiet --shared --no-checkout "$store" "$work/tree"
git -C "$work/tree" checkout --quiet --detach "$commit"
export GIT_AUTHOR_NAME=bench GIT_AUTHOR_EMAIL=bench@localhost
export GIT_COMMITTER_NAME=bench GIT_COMMITTER_EMAIL=bench@localhost

now() { date +%s%N; }
for ((i = 0; i < runs; i++)); do
	t=$(now); "$tool" generate-series "$series" --base "$base" --output "$work/ours" >/dev/null 2>&1
	echo "$(($(now) - t))" >>"$work/tool.ns"
	git -C "$work/tree" reset --quiet --hard "$commit"
	t=$(now)
	git -C "$work/tree" am --quiet "$work"/mails/000[1-9]*.patch
	git -C "$work/tree" format-patch --quiet --cover-letter --base="$commit" -o "$work/theirs" "$commit"
	echo "$(($(now) - t))" >>"$work/git.ns"
done

median() { sort -n "$1" | awk '{v[NR]=$1} END {print (NR%2 ? v[(NR+1)/2] : (v[NR/2]+v[NR/2+1])/2)/1e6}'; }
spread() { sort -n "$1" | awk '{v[NR]=$1} END {printf "%.1f–%.1f", v[1]/1e6, v[NR]/1e6}'; }
memory=$(python3 - "$tool" "$series" "$base" "$work/ours" <<'PY'
import resource, subprocess, sys
tool, series, base, out = sys.argv[1:]
subprocess.run([tool, "generate-series", series, "--base", base, "--output", out],
               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
PY
)
a=$(median "$work/tool.ns") b=$(median "$work/git.ns")
printf '%-34s %10s %16s\n' "$series on $base, $runs runs" 'median ms' 'range ms'
printf '%-34s %10.1f %16s\n' 'generate-series' "$a" "$(spread "$work/tool.ns")"
printf '%-34s %10.1f %16s\n' 'git am + git format-patch' "$b" "$(spread "$work/git.ns")"
printf 'ratio %.1f, peak memory of the tool %s MiB\n' "$(awk "BEGIN{print $b/$a}")" "$memory"
