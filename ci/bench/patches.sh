#!/usr/bin/env bash
# Many one-line patches all over the tree: rendered, committed, formatted and
# proved, beside `git format-patch` alone, and `git am` + `git format-patch`.
#
#   ci/bench/patches.sh [PATCHES] [BASE] [RUNS]      default: "100 1000" 6.12 7
#
# Several numbers of patches are measured one after the other: how time and memory
# grow is what they show.
#
# The series is made in a project of its own: each patch puts a comment above the
# first #include of a C file. The three take turns, so that what else the machine
# does meets all of them. Prints medians of wall and processor time, the ratios,
# and the tool's peak memory.
set -euo pipefail
cd "$(dirname "$0")/../.."
sizes=${1:-100 1000} base=${2:-6.12} runs=${3:-7}

cargo build --quiet --package xtask
tool=$PWD/target/debug/xtask
all=$(mktemp -d "${TMPDIR:-/tmp}/bench-patches.XXXXXX")
trap 'rm -rf "$all"' EXIT
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_AUTHOR_NAME=bench GIT_AUTHOR_EMAIL=bench@localhost
export GIT_COMMITTER_NAME=bench GIT_COMMITTER_EMAIL=bench@localhost

"$tool" bases import "$base" >/dev/null 2>&1 || true
store=${XDG_CACHE_HOME:-$HOME/.cache}/kseries/store.git
commit=$("$tool" --format json bases show "$base" | python3 -c 'import json,sys; print(json.load(sys.stdin)[0]["commit"])')

git clone --quiet --shared --no-checkout "$store" "$all/tree" 2>/dev/null
git -C "$all/tree" checkout --quiet --detach "$commit"

make_series() {
python3 - "$work/project" "$patches" "$store" "$commit" <<'PY'
import pathlib, re, subprocess, sys
project, patches, store, commit = pathlib.Path(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]
git = ["git", "-C", store]
names = subprocess.run([*git, "ls-tree", "-r", "--name-only", commit, "drivers", "fs", "net", "kernel", "mm"],
                       check=True, capture_output=True, text=True).stdout.split()
names = [n for n in names if n.endswith(".c")]
taken, step = [], max(1, len(names) // (patches * 2))
for name in names[::step]:
    text = subprocess.run([*git, "cat-file", "blob", f"{commit}:{name}"], check=True, capture_output=True).stdout
    found = re.search(rb"^#include <[^>\n]+>$", text, re.M)
    if found and text.count(found[0] + b"\n") == 1:
        taken.append((name, found[0].decode()))
    if len(taken) == patches:
        break
assert len(taken) == patches, f"only {len(taken)} files"
series = project / "series" / "many"
series.mkdir(parents=True)
(project / "templates" / "many").mkdir(parents=True)
(project / "templates" / "many" / "cover.tera").write_text("Many patches.\n")
out = ['title = "treewide: Many patches"', 'author = "Bench <bench@localhost>"',
       "date = 2024-11-29T12:00:00+01:00", 'change-id = "20241129-many-431ffd03aa5e"',
       'cover = "cover.tera"']
for i, (name, include) in enumerate(taken):
    out += ["", "[[patch]]", f'name = "p{i}"',
            f'message = {{ text = "treewide: Say number {i}\\n\\nIt was not said.\\n\\nSigned-off-by: Bench <bench@localhost>\\n" }}',
            "[[patch.edit]]", f'file = "{name}"', f"at = {{ text = '{include}' }}",
            f'insert-before = {{ text = "/* number {i} */" }}']
(series / "series.toml").write_text("\n".join(out) + "\n")
PY
}

ours() { "$tool" --project "$work/project" generate-series many --base "$base" --output "$work/mails" >/dev/null 2>"$work/err"; }
format() { git -C "$all/tree" format-patch --quiet --cover-letter --base="$commit" -o "$work/theirs" "$commit..$tip"; }
am() { git -C "$all/tree" am --quiet $(ls "$work"/mails/*.patch | tail -n +2); format; }
TIMEFORMAT='%R %U %S'
take() { { time "$2" >/dev/null 2>&1; } 2>>"$work/$1"; }
measure() {
	ours || { cat "$work/err" >&2; exit 1; }
	git -C "$all/tree" reset --quiet --hard "$commit"
	git -C "$all/tree" am --quiet $(ls "$work"/mails/*.patch | tail -n +2)
	tip=$(git -C "$all/tree" rev-parse HEAD)
	for ((i = 0; i < runs; i++)); do
		take tool ours
		take format format
		git -C "$all/tree" reset --quiet --hard "$commit"
		take am am
	done
}

report() {
python3 - "$work" "$patches" "$base" "$runs" "$tool" <<'PY'
import resource, statistics, subprocess, sys
work, patches, base, runs, tool = sys.argv[1:]
rows = {}
for name in ("tool", "format", "am"):
    values = [list(map(float, line.split())) for line in open(f"{work}/{name}")]
    rows[name] = (statistics.median(v[0] for v in values), statistics.median(v[1] + v[2] for v in values))
subprocess.run([tool, "--project", f"{work}/project", "generate-series", "many", "--base", base, "--output", f"{work}/mails"],
               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
print(f"{patches + ' patches on ' + base + ', median of ' + runs:<38}   wall s    CPU s")
for name, what in (("tool", "generate-series"), ("format", "git format-patch"), ("am", "git am + git format-patch")):
    print(f"{what:<38} {rows[name][0]:8.3f} {rows[name][1]:8.3f}")
print(f"{rows['tool'][0] / rows['format'][0]:.2f} times git format-patch alone (at most 2.5), "
      f"{rows['am'][0] / rows['tool'][0]:.1f} times faster than with git am (at least 20), peak {memory} MiB")
PY
}

for patches in $sizes; do
	work=$all/$patches
	mkdir "$work"
	make_series
	measure
	report
done
