# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by interop/run: what the cases are written with. A file in cases/ calls
#
#   group DIRECTION SETUP TEARDOWN      SETUP runs before the group's first case; when it fails, all of the group's cases do
#   check NAME FUNCTION [SECONDS]       one case, with its time limit (default 120)
#
# A case is a function, run in a shell of its own with -e; what it prints goes to its log, what it gives to `note` into the table. It ends
# with 0 when all held; `not_run REASON` ends it as not run.

interop=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
project=$(cd "$interop/.." && pwd)
. "$interop/peer/cache.sh"
export PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin # which su does not add
export RPCRDMA_INTEROP_RUN=$interop/target/vm
logs=$interop/target/log
tool=${RPCRDMA_INTEROP_TOOL:-$project/rpcrdma}
patience=${RPCRDMA_INTEROP_PATIENCE:-1}
state=$interop/target/state # pid files and what cases hand to later ones
# shellcheck disable=SC2034 # used by cases
files=${RPCRDMA_INTEROP_FILES:-$interop/target/files} # exported and copied data

# ---------------------------------------------------------------- in cases
note() { printf '%s' "$*" >"$state/note"; }
not_run() {
    note "$*"
    exit 77
}
fail() {
    printf 'FAILED: %s\n' "$*"
    note "$*"
    exit 1
}
# equal WHAT EXPECTED FOUND
equal() {
    [ "$2" = "$3" ] || fail "$1: expected $2, found $3"
}
# at_least WHAT LEAST FOUND
at_least() {
    [ "$3" -ge "$2" ] || fail "$1: expected at least $2, found $3"
}
# await SECONDS WHAT COMMAND...: until the command succeeds
await() {
    local limit=$(($1 * patience)) what=$2 begin=$SECONDS
    shift 2
    until "$@"; do
        if [ $((SECONDS - begin)) -ge "$limit" ]; then
            printf 'FAILED: %s: not within %s s\n' "$what" "$limit"
            return 1
        fi
        sleep 0.1
    done
}
# must_fail COMMAND...: with one line on stderr and no stack trace
must_fail() {
    local status=0
    "$@" 2>"$state/stderr" || status=$?
    cat "$state/stderr"
    equal "exit status of $*" 1 "$status"
    equal "lines on standard error of $*" 1 "$(grep -vc '^+ rpcrdma' "$state/stderr")"
    ! grep -q '^[[:space:]]*at org' "$state/stderr" || fail "stack trace from: $*"
}
sum() { sha256sum "$1" | cut -d' ' -f1; }

rpcrdma() {
    printf '+ rpcrdma %s\n' "$*" >&2
    "$tool" "$@"
}

# ---------------------------------------------------------------- processes, by name; their pids are in files
# background NAME COMMAND...: its output goes to a log
background() {
    local name=$1
    shift
    "$@" </dev/null >>"$logs/$name.log" 2>&1 &
    echo $! >"$state/$name.pid"
}
alive() { [ -s "$state/$1.pid" ] && kill -0 "$(cat "$state/$1.pid")" 2>/dev/null; }
# signal NAME SIGNAL
signal() { kill -"$2" "$(cat "$state/$1.pid")"; }
# end NAME [SIGNAL]: and waits for it; what does not end within 15 seconds is killed
end() {
    local pid
    alive "$1" || {
        rm -f "$state/$1.pid"
        return 0
    }
    pid=$(cat "$state/$1.pid")
    kill -"${2:-TERM}" "$pid" 2>/dev/null
    if ! await 15 "end of $1" eval "! kill -0 $pid 2>/dev/null"; then
        kill -KILL "$pid" 2>/dev/null
        await 5 "end of $1 after SIGKILL" eval "! kill -0 $pid 2>/dev/null"
    fi
    rm -f "$state/$1.pid"
}
end_all() {
    local file
    for file in "$state"/*.pid; do
        [ -e "$file" ] && end "$(basename "$file" .pid)" >/dev/null
    done
}
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
listens() { (exec 3<>"/dev/tcp/${2:-127.0.0.1}/$1") 2>/dev/null; }

# ---------------------------------------------------------------- the peer
vm() { "$interop/peer/vm" "$@"; }
vm_start() {
    vm start "$@" --timeout $((240 * patience)) >"$state/vm-$1" || return 1
    cat "$state/vm-$1"
}
in_server() { vm exec server "set -e; $1" $((${2:-120} * patience)); }

# ---------------------------------------------------------------- the relay that does harm (testkit's FaultProxyCommand)
# proxy_start NAME TARGET_PORT [LISTEN_PORT]
proxy_start() {
    : >"$logs/$1.log"
    background "$1" "$JAVA_HOME/bin/java" -Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$project/testkit/target/classes" \
        org.rpcrdma4j.testkit.proxy.FaultProxyCommand 127.0.0.1 "$2" "${3:-0}"
    await 30 "the relay $1" grep -q '^listen=' "$logs/$1.log" || return 1
    sed -n 's/^listen=\([0-9]*\).*/\1/p' "$logs/$1.log" >"$state/$1.port"
}
proxy_port() { cat "$state/$1.port"; }
# proxy NAME COMMAND...
proxy() {
    local name=$1 control answer
    shift
    control=$(sed -n 's/.*control=//p' "$logs/$name.log")
    exec 7<>"/dev/tcp/127.0.0.1/$control"
    printf '%s\n' "$*" >&7
    read -r -t 10 answer <&7
    exec 7>&-
    printf '%s\n' "$answer"
    [ "${answer#error}" = "$answer" ]
}
# proxy_value NAME KEY: of its status
proxy_value() { proxy "$1" status | tr ' ' '\n' | sed -n "s/^$2=//p"; }
