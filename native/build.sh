#!/usr/bin/env bash
# Builds what runs below the Java virtual machine: native/build.sh OUT_DIR
#
#   OUT_DIR/bpf/*.bpf.o           BPF programs
#   OUT_DIR/module/tamanoir.ko    netfilter module
#   OUT_DIR/test/*                programs of tests, one for each native/test/*.c
#
# A tool that the host lacks leaves its part out with a line that begins with SKIPPED and names the Debian package; a
# tool that is there and fails fails the build. What has not changed since the last time is not built again.
#
# KDIR=FOLDER   headers of the kernel that the module is for; else see native/headers
set -euo pipefail

[[ $# == 1 ]] || { echo "usage: native/build.sh OUT_DIR" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")" # native: sources are named relative to it, so that objects do not depend on where
readonly out
shopt -s nullglob

skipped() { echo "SKIPPED: $1: $2; install the package $3"; }
has() { command -v "$1" >/dev/null; }

# fresh STAMP FILE... : whether the stamp is of these files, this script and $settings, as remembered by "built".
settings=
digest() { { printf '%s\n' "$settings"; sha256sum build.sh "$@"; } | sha256sum; }
fresh() {
    local stamp=$1
    shift
    [[ -e $stamp && $(<"$stamp") == "$(digest "$@")" ]]
}
built() {
    local stamp=$1
    shift
    digest "$@" >"$stamp"
}

build_bpf() {
    local sources=(bpf/*.bpf.c) others=(bpf/*.h include/*.h) flags source object headers
    ((${#sources[@]})) || return 0
    has clang || { skipped "no clang" "BPF programs are not built" clang; return 0; }
    has llvm-strip || { skipped "no llvm-strip" "BPF programs are not built" llvm; return 0; }
    # BTF names sources with their folder, which would differ wherever it is built.
    flags=(-O2 -g -fdebug-compilation-dir=/native -target bpf -mcpu=v3 -Wall -Wextra -Werror -Iinclude)
    # Where Debian keeps asm/types.h of this processor.
    headers=/usr/include/$(uname -m)-linux-gnu
    [[ ! -d $headers ]] || flags+=(-idirafter "$headers")
    printf '#include <linux/bpf.h>\n#include <bpf/bpf_helpers.h>\n' | clang "${flags[@]}" -E -x c - >/dev/null 2>&1 ||
        { skipped "no bpf/bpf_helpers.h" "BPF programs are not built" libbpf-dev; return 0; }

    mkdir -p "$out/bpf"
    settings="${flags[*]} $(clang --version)"
    for source in "${sources[@]}"; do
        object=$out/bpf/$(basename "$source" .c).o
        if [[ -e $object ]] && fresh "$object.stamp" "$source" "${others[@]}"; then
            continue
        fi
        echo "native: $source"
        clang "${flags[@]}" -c "$source" -o "$object.new"
        llvm-strip -g "$object.new" # DWARF goes, BTF stays
        mv "$object.new" "$object"
        built "$object.stamp" "$source" "${others[@]}"
    done
    for object in "$out"/bpf/*.bpf.o; do
        [[ -e bpf/$(basename "$object" .o).c ]] || rm -f "$object" "$object.stamp"
    done
}

build_module() {
    local sources=(module/* include/*) headers
    [[ -e module/Makefile || -e module/Kbuild ]] || return 0
    headers=$(./headers)
    [[ -n $headers ]] || { skipped "no kernel headers" "the module is not built" linux-headers-amd64; return 0; }
    has make || { skipped "no make" "the module is not built" make; return 0; }

    # The kernel's build writes beside the sources.
    settings="$headers $(sha256sum "$headers/Module.symvers" "$headers/include/generated/utsrelease.h" 2>/dev/null || true)"
    if [[ -e $out/module/tamanoir.ko ]] && fresh "$out/module.stamp" "${sources[@]}"; then
        return 0
    fi
    echo "native: module, with $headers"
    rm -rf "$out/module" "$out/include" "$out/module.stamp"
    cp -r module include "$out/"
    make -s -C "$headers" M="$out/module" modules
    [[ -e $out/module/tamanoir.ko ]] || { echo "native: the kernel's build made no $out/module/tamanoir.ko" >&2; return 1; }
    built "$out/module.stamp" "${sources[@]}"
}

build_tests() {
    local sources=(test/*.c) others=(test/*.h include/*.h) compiler='' flags source program
    ((${#sources[@]})) || return 0
    for program in cc gcc clang; do
        has "$program" && compiler=$program && break
    done
    [[ -n $compiler ]] || { skipped "no C compiler" "programs of tests are not built" gcc; return 0; }
    flags=(-O2 -g -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -Iinclude -pthread)
    printf '#include <stdio.h>\n#include <linux/types.h>\n' | "$compiler" -E -x c - >/dev/null 2>&1 ||
        { skipped "no C library headers" "programs of tests are not built" libc6-dev; return 0; }
    mkdir -p "$out/test"
    settings="$compiler ${flags[*]}"
    for source in "${sources[@]}"; do
        program=$out/test/$(basename "$source" .c)
        if [[ -e $program ]] && fresh "$program.stamp" "$source" "${others[@]}"; then
            continue
        fi
        echo "native: $source"
        "$compiler" "${flags[@]}" "$source" -o "$program.new"
        mv "$program.new" "$program"
        built "$program.stamp" "$source" "${others[@]}"
    done
}

[[ $(uname -s) == Linux ]] || { echo "SKIPPED: $(uname -s): levels below the JVM are built on Linux"; exit 0; }
build_bpf
build_module
build_tests
