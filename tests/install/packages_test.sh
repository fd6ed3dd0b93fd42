#!/usr/bin/env bash
# Debian's packages: what they need, what is in them, and that it works from where they put it.
source tests/install/prefix.sh
example=$PWD/$1

triplet=$(dpkg-architecture -q DEB_HOST_MULTIARCH)
check "a tree for packages" install_to "$folder/all/usr" --prefix /usr --libdir "lib/$triplet"
check "becomes packages" does python3 -B "$checkout/tools/packaging/debs.py" "$checkout" "$folder/all" "$folder"
cd "$folder" || exit 1
names=$(shopt -s nullglob; for each in *.deb; do echo "${each%%_*}"; done | xargs)
check "which are five" grep -qxE 'libmuster-dev libmuster[0-9.]+ muster-mpi muster-tools python3-muster' <<<"$names"
library=$(grep -oE 'libmuster[0-9.]+' <<<"$names")

# field PACKAGE FIELD: of its description.
field() { dpkg-deb -f "$1"_*.deb "$2" >"$out"; }
for each in $library muster-mpi muster-tools; do
  check "$each needs the C library" eval 'field "$each" Depends && says "libc6 (>= "'
  check "and hwloc" says libhwloc15
  check "and no MPI" eval '! grep -qE "openmpi|mpich" "$out"'
done
check "libmuster-dev needs the library of its version" eval 'field libmuster-dev Depends && says "$library (= "'
check "muster-mpi would have MPIs" eval 'field muster-mpi Recommends && says libopenmpi3 && says libmpich12'
check "the library says who may use it" eval 'dpkg-deb --ctrl-tarfile "$library"_*.deb | tar -xO ./shlibs >"$out" && says "libmuster ${library#libmuster} $library (>= "'
for each in $names; do
  check "$each unpacks" does dpkg-deb -x "$each"_*.deb root
  check "$each has its licences" grep -q "Apache License" "root/usr/share/doc/$each/copyright"
  check "$each has a changelog" eval 'zcat "root/usr/share/doc/$each/changelog.gz" >"$out" && grep -qE "^muster \([0-9.]+\) " "$out"'
done
check "the command runs" does root/usr/bin/muster run -n 4 "$example"
check "as it should" says "4 ranks, sum 6"
check "it finds the MPIs' libraries" eval 'does root/usr/bin/muster mpirun --mpi mpich --print -n 2 /bin/true && says "usr/lib/$triplet/libmuster_mpich.so"'
check "and its benchmark" does root/usr/bin/muster bench barrier -n 2 --vs none --rounds 1 --sample-ms 2 --quiet --plot plot.svg
check "and it beside an MPI" does root/usr/bin/muster bench barrier -n 2 --shim mpich --rounds 1 --sample-ms 2 --quiet --plot plot.svg
check "python3-muster needs the library of its version" eval 'field python3-muster Depends && says "$library (= " && says python3-numpy && says python3-cffi-backend'
check "and works" eval 'LD_LIBRARY_PATH=root/usr/lib/$triplet PYTHONPATH=root/usr/lib/python3/dist-packages does root/usr/bin/muster run -n 3 /usr/bin/python3 -B -c "import muster; print(muster.world().allreduce(1), muster.__file__)"'
check "from there" says "3 $PWD/root/usr/lib/python3/dist-packages/muster/__init__.py"
check "pkg-config goes by /usr" eval 'PKG_CONFIG_PATH=root/usr/lib/$triplet/pkgconfig does pkg-config --variable=includedir muster && says /usr/include && ! says root'
check "CMake finds it" test -f "root/usr/lib/$triplet/cmake/muster/muster-config.cmake"

echo "cases: $passed passed, $failed failed"
((failed == 0))
