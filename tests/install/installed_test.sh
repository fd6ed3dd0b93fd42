#!/usr/bin/env bash
# What is in a prefix, and that the command does there what it does in the checkout.
source tests/install/prefix.sh
programs=$PWD/$1 example=$PWD/$2

# Elsewhere than where it was made, and with nothing of the checkout at hand.
mv "$prefix" "$folder/moved"
prefix=$folder/moved
mkdir "$folder/work"
cd "$folder/work" || exit 1
# muster ARGS…: the installed command.
muster() { does env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME="$folder" MPLCONFIGDIR="$MPLCONFIGDIR" $with "$prefix/bin/muster" "$@"; }
with=

check "the version" muster --version
check "is that of the headers" eval 'says "Muster $(sed -n "s/^Version: //p" "$prefix/lib/pkgconfig/muster.pc")"'
check "info" muster info
check "info --algorithms" muster info --algorithms
check "a job" eval 'muster run -n 4 "$example" && says "4 ranks, sum 6"'
check "a job on made-up nodes" eval 'muster run -n 4 --nodes 2 "$example" && says "4 ranks, sum 6"'
if ((EUID == 0)); then
  check "a job on made hosts" eval 'muster run -n 4 --hosts-made 2 "$example" && says "4 ranks, sum 6"'
fi
for mpi in openmpi mpich; do
  check "an MPI program, $mpi" eval 'with=MUSTER_REPORT=1 muster mpirun -n 3 "$programs/job_program_$mpi"'
  check "with Muster's collectives" says "muster: carried out all of 3 collective calls"
done
python=$(echo "$prefix"/lib/python3.*/dist-packages)
check "a program in Python" eval 'with=PYTHONPATH=$python muster run -n 3 /usr/bin/python3 -B -c "import muster; print(muster.world().allreduce(1), muster.__version__)"'
check "with the library of the prefix" says "3 $(sed -n "s/^Version: //p" "$prefix/lib/pkgconfig/muster.pc")"
check "and its help" eval 'PYTHONPATH=$python does /usr/bin/python3 -B -c "import muster; help(muster.Team)" && says "aallreduce(self, send, out=None, op="'
few=(-n 2 --sizes 8 --rounds 1 --sample-ms 2 --quiet --plot plot.svg)
check "bench, Muster alone" muster bench allreduce "${few[@]}" --vs none
check "its picture" test -s plot.svg
check "bench beside the MPIs" eval 'muster bench allreduce "${few[@]}" && says "Open MPI" && says MPICH && ! says failed'
check "bench of the library for MPI programs" muster bench allreduce "${few[@]}" --shim mpich
check "sim" muster sim allgather --machine hdr100 --nodes 2 --ppn 2 --sizes 8 --quiet
check "tune" muster tune allgather --nodes 1 --ppn 2 --sizes 8 --rounds 1 --quiet --table table.json
check "check" muster check allgather:ring
rm "$prefix"/libexec/muster/worker_{gloo,mpich,openmpi} "$prefix"/lib/libmuster_*
check "bench where there are no libraries for MPI programs" eval 'muster bench allreduce "${few[@]}" && ! says MPI'
check "mpirun says what is missing" eval '! muster mpirun -n 2 "$programs/job_program_mpich" && says "the library to preload is not there"'

check "no file names the checkout" finds_none -rlF -e "$checkout/" -e /bazel-out/ "$prefix"
pages=$(muster --help && sed -n '/^Subcommands/,$s/^  \([a-z]*\)  .*/\1/p' "$out")
check "there are commands" test "$(wc -w <<<"$pages")" -gt 8
for page in $pages; do
  check "a page of $page" eval 'zcat "$prefix/share/man/man1/muster-$page.1.gz" >"$out" && says ".TH MUSTER-${page^^} " && says ".SH OPTIONS"'
done
check "a page of the command" eval 'zcat "$prefix/share/man/man1/muster.1.gz" >"$out" && says "Subcommands" && says arrivals'

# completes WORD…: what bash offers for the last of them, in one line.
completes() {
  local COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  _muster
  echo "${COMPREPLY[*]}" >"$out"
}
source "$prefix/share/bash-completion/completions/muster"
check "bash completes commands" eval 'completes muster a && says arrivals'
check "options" eval 'completes muster run --tag && says --tag-output'
check "words that an option takes" eval 'completes muster run --bind "" && says "core none"'
check "and leaves files alone" eval 'completes muster run ./pro && [ "$(cat "$out")" = "" ]'

library=$prefix/lib/libmuster.so
check "the library's name" eval 'does readelf -dW "$library" && grep -qE "soname: \[libmuster\.so\.[0-9]+(\.[0-9]+)?\]" "$out"'
check "needs no Boost, Kokkos, MPI" finds_none -iE 'needed.*(boost|kokkos|mpi)' "$out"
nm -DC --defined-only "$library" | sed 's/^[0-9a-f]* . //; s/^\(muster_[a-z_]*\)@@.*/\1/' >"$folder/symbols"
check "has symbols" test "$(wc -l <"$folder/symbols")" -gt 200
check "Muster's alone" finds_none -vE '^((typeinfo|typeinfo name|vtable|VTT|guard variable) for )?muster::|^muster_[a-z_]+$|^MUSTER_[0-9.]+$' "$folder/symbols"
check "none of its insides" finds_none -E 'muster::(algos|c|tcp|shm|stream|cluster|launcher|tune|profile)::' "$folder/symbols"
for each in 'typeinfo for muster::error' 'vtable for muster::error' 'muster::barrier(' 'muster::default_algorithms()'; do
  check "has $each" grep -qF "$each" "$folder/symbols"
done
check "has all functions for C, and no others" eval 'grep -oE "^muster_[a-z_]+$" "$folder/symbols" | sort >"$folder/has" &&
  sed "s,//.*,,; /^typedef/d" "$prefix/include/muster/muster.h" | grep -oE "\bmuster_[a-z_]+\(" | tr -d "(" | sort -u | diff - "$folder/has" >"$out"'
# A program that loads the library while it runs has little room for threads' own variables: some 1.6 KiB.
tls=$(($(readelf -lW "$library" | awk '$1 == "TLS" {print $6}')))
check "takes $tls bytes of each thread's own" test "$tls" -gt 0 -a "$tls" -le 256
check "loads while a program runs" eval 'does python3 -c "import ctypes; m = ctypes.CDLL(\"$library\"); w = ctypes.c_void_p(); print(m.muster_init(ctypes.byref(w)), m.muster_size(w))" && says "0 1"'
for each in LICENSE licences/libfmt-dev licences/libcli11-dev licences/nlohmann-json3-dev; do
  check "$each" test -s "$prefix/share/doc/muster/$each"
done

echo "cases: $passed passed, $failed failed"
((failed == 0))
