#!/usr/bin/env bash
# The core, compiled against musl: by Clang, with libc++. Its tests are not run.
# Needs: pip install ziglang, cmake, ninja
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/musl}
mkdir -p "$build"
printf '#!/bin/sh\nexec python3 -m ziglang c++ -target x86_64-linux-musl "$@"\n' > "$build/c++"
chmod +x "$build/c++"
cmake -S . -B "$build" -G Ninja -DLOPSIDED_PYTHON=OFF -DLOPSIDED_DEV=ON -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_COMPILER="$(realpath "$build/c++")"
cmake --build "$build" --target lopsided_core
