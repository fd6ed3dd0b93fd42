#!/usr/bin/env bash
# Connections of ranks of one process, which look at what their devices are asked for: limits, devices that
# break or refuse, and peers that say what cannot be.
#
# usage: pairs_test.sh RDMA_GUEST HOSTS PAIRS_PROGRAM
guest_options=(--timeout 200)
source tests/rdma/guest.sh

RDMA_RAILS=$rails exec "$PWD/$3"
