# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Faults between our client and the kernel's server. Cases of the group of 10-client.sh.

# copied_down and copied_up: 64 MiB while the relay does what it was told to; the data is equal at the end. It takes "--stats" to
# see that no region and no lease was left.
copied_down() {
    rm -f "$files/down"
    copied "$(url /m64)" "$files/down"
    downloaded
}
copied_up() {
    copied "$files/up" "$(url /rw/up)"
    uploaded
}
copied() {
    local status=0
    rpcrdma cp --stats "$@" 2>"$state/stats" || status=$?
    copy_stats
    [ "$status" -eq 0 ] || fail "the copy: $(grep '^rpcrdma' "$state/stats" | head -n 1)"
}
copy_stats() {
    cat "$state/stats"
    grep -q 'xprt:.rdma' "$state/stats" || fail 'the copy printed no statistics'
    ! grep -q "orphaned" "$state/stats" || fail "regions that could not be given back"
    grep -q '^after close: .* 0 bytes leased, 0 regions$' "$state/stats" || fail "registered memory was left behind"
}
connections() { sed -n 's/.* connects \([0-9]*\),.*/\1/p' "$state/stats"; }
downloaded() { equal 'checksum of what was read' "$(awk '$2 == "m64" { print $1 }' "$state/m64.sum")" "$(sum "$files/down")"; }
uploaded() { equal 'checksum of what was written, inside the machine' "$(sum "$files/up")" "$(in_server 'sha256sum /export/rw/up | cut -d" " -f1')"; }
fault_files() {
    [ -e "$state/m64.sum" ] || in_server 'cd /export; sha256sum m64' >"$state/m64.sum"
    [ -e "$files/up" ] || head -c 67108864 /dev/urandom >"$files/up"
}
# faults_between cuts|flips COMMAND...: how many there were meanwhile
faults_between() {
    local before
    before=$(proxy_value relay-server "$1")
    "${@:2}"
    proxy relay-server heal
    faults=$(($(proxy_value relay-server "$1") - before))
    at_least 'connections of the copy' 2 "$(connections)"
}

# Threads of knfsd that wait for RDMA Reads of connections that are gone.
lost_threads() { in_server 'sleep 3; grep -l svc_rdma_process_read_list /proc/[0-9]*/stack 2>/dev/null | wc -l'; }

client_cut() {
    fault_files
    local down
    proxy relay-server cut-every down 7000000
    faults_between cuts copied_down
    down=$faults
    proxy relay-server cut-every up 7000000
    faults_between cuts copied_up
    # knfsd of 6.1 waits for its RDMA Reads in the thread that runs the call, and with siw not all of them are told of the connection's end.
    note "cut $down times while reading, $faults while writing; $(lost_threads) of knfsd's $knfsd_threads threads wait for ever"
    at_least 'cuts while reading' 5 "$down"
    at_least 'cuts while writing' 5 "$faults"
}

client_flip() {
    fault_files
    local down
    proxy relay-server flip-every down 9000000
    faults_between flips copied_down
    down=$faults
    proxy relay-server flip-every up 9000000
    faults_between flips copied_up
    note "$down bits inverted while reading, $faults while writing"
    at_least 'bits inverted while reading' 4 "$down"
    at_least 'bits inverted while writing' 4 "$faults"
}

# after_bytes up|down BYTES [RELAY]: when so many have passed since now
after_bytes() {
    local key=$1 bytes=$2 relay=${3:-relay-server} begin
    begin=$(proxy_value "$relay" "$key")
    await 60 "$bytes bytes $key" eval "[ \$((\$(proxy_value $relay $key) - $begin)) -ge $bytes ]"
}

# The whole machine stands still in the middle, as when a host is paused: no reset, no answer.
client_frozen() {
    fault_files
    local copy
    copied_down &
    copy=$!
    after_bytes down 10000000
    vm freeze server
    sleep 30
    kill -0 "$copy" || fail 'the copy ended while the peer stood still'
    vm thaw server
    wait "$copy"
    copied_up &
    copy=$!
    after_bytes up 10000000
    vm freeze server
    sleep 30
    kill -0 "$copy" || fail 'the copy ended while the peer stood still'
    vm thaw server
    wait "$copy"
}

# knfsd goes and comes back, as in a reboot: other write verifier, connections ended, port closed for a while.
restart='rpc.nfsd 0; sleep 3; rpc.nfsd --no-udp -V 3 -V 4 --lease-time 10 --grace-time 10 '$knfsd_threads'; echo rdma 20049 >/proc/fs/nfsd/portlist
    echo Y >/proc/fs/nfsd/v4_end_grace; cat /proc/fs/nfsd/portlist'
# held BYTES: passes its input on, but after so many bytes only when knfsd was restarted
held() {
    head -c "$1"
    touch "$state/amid"
    await 120 'the restart' test -e "$state/restarted"
    cat
}
# restart_amid PID: restarts knfsd in the middle of the copy that is held up; waits for the copy's end
restart_amid() {
    await 60 'the middle of the copy' test -e "$state/amid"
    # ORDER: with RDMA Reads under way knfsd's threads, and so its end, can wait for ever.
    await 60 'rest' in_server 'cd /proc/sys/sunrpc/svc_rdma; n=$(cat rdma_stat_read); sleep 2; [ "$n" = "$(cat rdma_stat_read)" ]'
    in_server "$restart"
    if ! kernel_answers; then
        printf 'knfsd answers nobody after its restart; it is restarted again\n'
        in_server "$restart"
    fi
    touch "$state/restarted"
    wait "$1"
    rm -f "$state/amid" "$state/restarted"
    copy_stats
    at_least 'connections of the copy' 2 "$(connections)"
}
# Whether knfsd answers an MPA Request that nothing of this project has made. In rare runs it takes connections after a restart and is silent.
kernel_answers() {
    python3 - "$(peer_port rdma)" <<'X'
import socket, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1])), 10) as s:
    s.sendall(b"MPA ID Req Frame\x40\x01\0\0")
    sys.exit(not s.recv(20).startswith(b"MPA ID Rep Frame"))
X
}
client_restart() {
    fault_files
    set -o pipefail
    rm -f "$state/amid" "$state/restarted"
    (rpcrdma cat --stats "$(url /m64)" 2>"$state/stats" | held 10000000 >"$files/down") &
    restart_amid $!
    downloaded
    (held 30000000 <"$files/up" | rpcrdma cp --stats - "$(url /rw/up)" 2>"$state/stats") &
    restart_amid $!
    uploaded
    # Of 64 MiB in blocks of 1 MiB, those that were written before the restart went again, since the write verifier was another one.
    local writes
    writes=$(sed -n 's/.* read_chunks \([0-9]*\),.*/\1/p' "$state/stats")
    at_least 'WRITEs' 80 "$writes"
    note "$((writes - 64)) of 64 blocks written again because the write verifier had changed"
}

# ORDER: restart before the cuts: threads that those took from knfsd never end, and it waits for them.
check 'the kernel restarts its server, twice' client_restart 240
check 'the peer frozen for 30 s, reading and writing' client_frozen 240
check 'bits inverted every 9 MB, reading and writing' client_flip 240
check 'connection cut every 7 MB, reading and writing' client_cut 240
