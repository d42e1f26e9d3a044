#!/usr/bin/env bash
# Generating a series beside git doing the same work on the same base.
#
#   ci/bench/generate.sh [SERIES] [BASE] [RUNS]      default: cpumap-gro 6.12 15
#
# "git" is `git am` of the mails in a checkout of the base (reset between runs,
# not timed) and `git format-patch --cover-letter --base` of the result. Both
# sides run in turn, so that what else the machine does meets both. Prints
# medians of wall and processor time in milliseconds, the ratio of wall times,
# and the tool's peak memory.
set -euo pipefail
cd "$(dirname "$0")/../.."
series=${1:-cpumap-gro} base=${2:-6.12} runs=${3:-15}

cargo build --quiet --package xtask
tool=$PWD/target/debug/xtask
work=$(mktemp -d "${TMPDIR:-/tmp}/bench-generate.XXXXXX")
trap 'rm -rf "$work"' EXIT
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_AUTHOR_NAME=bench GIT_AUTHOR_EMAIL=bench@localhost
export GIT_COMMITTER_NAME=bench GIT_COMMITTER_EMAIL=bench@localhost

"$tool" generate-series "$series" --base "$base" --output "$work/mails" >/dev/null 2>&1
store=${XDG_CACHE_HOME:-$HOME/.cache}/kseries/store.git
commit=$("$tool" --format json bases show "$base" | python3 -c 'import json,sys; print(json.load(sys.stdin)[0]["commit"])')
git clone --quiet --shared --no-checkout "$store" "$work/tree" 2>/dev/null
git -C "$work/tree" checkout --quiet --detach "$commit"

ours() { "$tool" generate-series "$series" --base "$base" --output "$work/ours"; }
theirs() {
	git -C "$work/tree" am --quiet "$work"/mails/000[1-9]*.patch
	git -C "$work/tree" format-patch --quiet --cover-letter --base="$commit" -o "$work/theirs" "$commit"
}
TIMEFORMAT='%R %U %S'
take() { { time "$2" >/dev/null 2>&1; } 2>>"$work/$1"; }
for ((i = 0; i < runs; i++)); do
	take tool ours
	git -C "$work/tree" reset --quiet --hard "$commit"
	take git theirs
done

python3 - "$work" "$series" "$base" "$runs" "$tool" <<'PY'
import resource, statistics, subprocess, sys
work, series, base, runs, tool = sys.argv[1:]
rows = {}
for name in ("tool", "git"):
    values = [[1000 * float(v) for v in line.split()] for line in open(f"{work}/{name}")]
    walls = [v[0] for v in values]
    rows[name] = (statistics.median(walls), min(walls), max(walls), statistics.median(v[1] + v[2] for v in values))
subprocess.run([tool, "generate-series", series, "--base", base, "--output", f"{work}/ours"],
               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
print(f"{series + ' on ' + base + ', ' + runs + ' runs':<34} {'median ms':>10} {'range ms':>14} {'CPU ms':>8}")
for name, what in (("tool", "generate-series"), ("git", "git am + git format-patch")):
    median, low, high, cpu = rows[name]
    print(f"{what:<34} {median:10.1f} {f'{low:.0f}-{high:.0f}':>14} {cpu:8.1f}")
print(f"ratio {rows['git'][0] / rows['tool'][0]:.1f}, peak memory of the tool {memory} MiB")
PY
