#!/usr/bin/env bash
# The examples with Kokkos, in processes: their results.
#
# usage: examples_test.sh MUSTER TRANSPOSE CONJUGATE_GRADIENT PENCIL_FFT
source tests/support/cases.sh
muster=$PWD/$1 transpose=$PWD/$2 conjugate_gradient=$PWD/$3 pencil_fft=$PWD/$4
unset MUSTER_JOB

runs() { timeout 100 "$muster" run -n "$@" >"$out" 2>&1; }
for ranks in 1 2 3 5 8; do
  check "a transposition on $ranks" eval 'runs $ranks "$transpose" 240 480 && says " 0 entries wrong"'
  check "conjugate gradients on $ranks" eval 'runs $ranks "$conjugate_gradient" 60 && says ", solved"'
done
check "a thread drives" eval 'MUSTER_PROGRESS=thread runs 3 "$conjugate_gradient" 60 && says ", solved"'
check "rows that do not divide" eval '! runs 3 "$transpose" 10 480 && says "expected rows and columns"'
check "one column a rank" eval 'runs 4 "$transpose" 240 4 && says " 0 entries wrong"'
check "one row a rank" eval 'runs 4 "$transpose" 4 240 && says " 0 entries wrong"'
check "less rows than ranks" eval '! runs 5 "$conjugate_gradient" 4 && says "expected SIDE to be at least 5"'

# Files of jobs have names by process numbers, which are not unique between sandboxes.
transforms() {
  local ranks=$1
  shift
  timeout 100 mpirun.openmpi --allow-run-as-root --oversubscribe --map-by core --bind-to core:overload-allowed \
    --mca mpi_yield_when_idle 1 --mca orte_tmpdir_base "$folder" --mca btl_vader_backing_directory "$folder" \
    -n "$ranks" "$pencil_fft" "$@" >"$out" 2>&1
}
for ranks in 1 2 4 6; do
  check "pencils on $ranks" eval 'transforms $ranks 24 4 2 && says "^3 on" && says "all right" && cat "$out"'
done
check "more slabs than planes" eval 'transforms 4 8 6 1 && says "all right"'
check "a line each" eval 'transforms 2 2 1 1 && says "all right"'

echo "cases: $passed passed, $failed failed"
[ "$failed" = 0 ]
