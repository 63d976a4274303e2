# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced: where what is made and downloaded is kept between runs.
# shellcheck disable=SC2034 # used by those who source this
cache=${RPCRDMA_INTEROP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rpcrdma4j-interop}
