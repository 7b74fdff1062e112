#!/usr/bin/env bash
# Two wheels of the last commit, built from read-only trees in different folders without a compiler cache, must have
# the same bytes. Not as root, who may write everywhere. Needs: pip install build. Options are those of python -m build.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
commit=$(git rev-parse HEAD)  # once: the branch may move while the first wheel is built
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct "$commit")} CCACHE_DISABLE=1
for folder in one two/longer; do
  mkdir -p "$work/$folder"
  git archive "$commit" | tar -x -C "$work/$folder"
  chmod -R a-w "$work/$folder"
  python3 -m build --quiet --wheel --outdir "$work/dist/$folder" "$@" "$work/$folder"
done
sha256sum "$work"/dist/one/*.whl "$work"/dist/two/longer/*.whl | sed "s|$work/||"
cmp "$work"/dist/one/*.whl "$work"/dist/two/longer/*.whl
echo "the two wheels have the same bytes"
