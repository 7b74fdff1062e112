#!/usr/bin/env bash
# The core's tests on aarch64, and its bits beside those of this processor, with an emulator.
# Of the changed states, which sanitizers see in full elsewhere, one in 20 is tried.
# Needs: apt-get install g++-aarch64-linux-gnu qemu-user cmake ninja-build
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/aarch64}
common=(-G Ninja -DLOPSIDED_PYTHON=OFF -DLOPSIDED_TESTS=ON -DCMAKE_BUILD_TYPE=Release)
cmake -S . -B "$build/here" "${common[@]}"
cmake -S . -B "$build/there" "${common[@]}" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
  -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ -DCMAKE_EXE_LINKER_FLAGS=-static
cmake --build "$build/there" --target core_tests core_digest
qemu-aarch64 "$build/there/cpp/tests/core_tests" 0 2 20 &
qemu-aarch64 "$build/there/cpp/tests/core_tests" 1 2 20
wait $!
qemu-aarch64 "$build/there/cpp/tests/core_digest" > "$build/there.txt"
cmake --build "$build/here" --target core_digest
"$build/here/cpp/tests/core_digest" > "$build/here.txt"
diff "$build/here.txt" "$build/there.txt"
echo "$(wc -l < "$build/here.txt") digests of $(cut -d' ' -f1 "$build/here.txt" | sort -u | wc -l) learners are the same"
