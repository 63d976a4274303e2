# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Faults between the kernel's client and our server. Cases of the group of 30-server.sh.

# The guest writes 64 MiB and reads them back while the relay, or this script, does harm. The data is equal at the end.
guest_copy='
    [ -e /tmp/f ] || random 67108864 >/tmp/f
    cp /tmp/f f; sync; drop; cmp /tmp/f f'

server_cut() {
    local before down
    before=$(proxy_value relay cuts)
    proxy relay cut-every up 9000000
    mounted '[ -e /tmp/f ] || random 67108864 >/tmp/f; cp /tmp/f f; sync' 280
    proxy relay heal
    down=$(proxy_value relay cuts)
    proxy relay cut-every down 9000000
    mounted_again 'cmp /tmp/f f' 280
    proxy relay heal
    note "cut $((down - before)) times while writing, $(($(proxy_value relay cuts) - down)) while reading"
    at_least 'cuts while writing' 5 $((down - before))
    at_least 'cuts while reading' 5 $(($(proxy_value relay cuts) - down))
}

server_flip() {
    local before down
    before=$(proxy_value relay flips)
    proxy relay flip-every up 12000000
    mounted '[ -e /tmp/f ] || random 67108864 >/tmp/f; cp /tmp/f f; sync' 280
    proxy relay heal
    down=$(proxy_value relay flips)
    proxy relay flip-every down 12000000
    mounted_again 'cmp /tmp/f f' 280
    proxy relay heal
    note "$((down - before)) bits inverted while writing, $(($(proxy_value relay flips) - down)) while reading"
    at_least 'bits inverted while writing' 3 $((down - before))
    at_least 'bits inverted while reading' 3 $(($(proxy_value relay flips) - down))
    # ORDER: before the next case kills it: this one has seen all cuts and inverted bits.
    serve_end
    serve_start
}

# Killed without a word and started again, three times while 64 MiB are written, read, and a tree is made.
server_kill() {
    local copy i kills=0
    mounted "$guest_copy
        tar -C / -cf - etc lib/modules peer | tar -xf -; drop
        for x in etc lib/modules peer; do diff -r /\$x \$x || fail \"diff \$x\"; done" 400 &
    copy=$!
    for i in 1 2 3; do
        sleep 5
        kill -0 "$copy" 2>/dev/null || break
        end serve KILL
        sleep 1
        serve_start
        kills=$((kills + 1))
    done
    wait "$copy"
    note "killed $kills times"
    at_least 'kills' 3 "$kills"
}

server_frozen() {
    local copy
    mounted "$guest_copy" 300 &
    copy=$!
    after_bytes up 10000000 relay
    signal serve STOP
    sleep 30
    kill -0 "$copy" || fail 'the copy ended while our server stood still'
    signal serve CONT
    wait "$copy"
}

# The whole client stands still: our server sees a peer that neither answers nor ends.
client_of_ours_frozen() {
    local copy
    guest_unharmed
    mounted "$guest_copy" 300 &
    copy=$!
    after_bytes up 10000000 relay
    vm freeze client
    sleep 30
    kill -0 "$copy" || fail 'the copy ended while the client stood still'
    vm thaw client
    wait "$copy"
    # The kernel's watchdogs have complained of the 30 seconds.
    in_guest 'dmesg -c >/dev/null'
}
guest_unharmed() { in_guest '! dmesg | grep -E "BUG|WARNING|Call Trace"'; }

# When all is over: no connection is left, the kernel has not complained, and our server ends when it is asked to.
server_left() {
    in_guest 'cat /proc/self/mountstats' >"$logs/client-mountstats-faults.txt"
    unmounted
    await 30 'the end of all connections' eval '[ "$(proxy_value relay open)" = 0 ]'
    grep 'xprt:' "$logs/client-mountstats-faults.txt"
    guest_unharmed
    serve_end
}

check 'connection cut every 9 MB, writing and reading' server_cut 600
check 'bits inverted every 12 MB, writing and reading' server_flip 600
check 'our server killed and started again, 3 times' server_kill 450
check 'our server frozen for 30 s' server_frozen 300
check 'the client frozen for 30 s' client_of_ours_frozen 300
check 'unmount after all that; our server ends' server_left 90
