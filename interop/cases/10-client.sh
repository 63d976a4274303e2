# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Our client against the kernel's server.

knfsd_threads=32
client_setup() {
    vm_start server --append peer.threads=$knfsd_threads || return 1
    proxy_start relay-server "$(peer_port rdma)"
}
client_teardown() {
    end relay-server
    vm stop server
}
# peer_port rdma|nfs|mountd|rpcbind: where the host reaches the kernel's server
peer_port() { vm ports server | sed -n "s/^PEER_${1^^}_PORT=//p"; }

# set_up_flags up|down: the flags octet of the newest connection's MPA Request or Reply (RFC 5044, Section 7.1.1; 40 = C)
set_up_flags() { proxy_value relay-server "setup_$1" | cut -c33-34; }

ping_crc() {
    rpcrdma ping "127.0.0.1:$(proxy_port relay-server)" -c 20 -i 0 --crc "$1"
    local request reply
    request=$((16#$(set_up_flags up) & 0x40))
    reply=$((16#$(set_up_flags down) & 0x40))
    equal 'the CRC bit of our MPA request' "$2" "$request"
    equal "the CRC bit of the kernel's MPA reply" "$2" "$reply"
}
ping_crc_on() { ping_crc on 64; }
ping_crc_off() { ping_crc off 0; }


# ---------------------------------------------------------------- files
# url PATH: below the kernel's export, through the relay
url() { printf 'nfs://127.0.0.1:%s/export%s?mountport=%s' "$(proxy_port relay-server)" "$1" "$(peer_port mountd)"; }

# Nothing of NFS goes over TCP: the kernel's own counters. netcount, udpcnt, tcpcnt, tcpcon are of all of sunrpc's servers in nfsd.
server_counters() {
    in_server 'awk "/^net / { print \"tcp=\" \$4 }" /proc/net/rpc/nfsd
        for c in read write recv; do echo "$c=$(cat /proc/sys/sunrpc/svc_rdma/rdma_stat_$c)"; done' | tr '\n' ' '
}
counter() { tr ' ' '\n' <<<"$1" | sed -n "s/^$2=//p"; }

client_list() {
    rpcrdma ls "$(url /)" | sort >"$state/ours"
    in_server 'cd /export; printf "%s\\n" *' | sort >"$state/theirs"
    diff "$state/theirs" "$state/ours"
    rpcrdma ls "$(url /big)" | sort >"$state/ours"
    in_server 'ls -A /export/big' | sort >"$state/theirs"
    diff -q "$state/theirs" "$state/ours" || fail 'the 2,000 names differ'
    equal 'entries of big' 2000 "$(wc -l <"$state/ours")"
}

client_read() {
    local file found
    # Taken inside the machine, from the file system that it exports.
    in_server 'cd /export; sha256sum empty one k four m1 m64 sparse deep/d1/d2/d3/d4/d5/d6/d7/d8/d9/d10/d11/d12/d13/d14/d15/d16/d17/d18/d19/d20/bottom' \
        200 >"$state/server.sums"
    for file in empty one k m1 m64; do
        found=$(rpcrdma cat "$(url "/$file")" | sha256sum | cut -d' ' -f1)
        equal "checksum of $file" "$(awk -v f="$file" '$2 == f { print $1 }' "$state/server.sums")" "$found"
    done
    rpcrdma cp -r "$(url /)" "$files/tree"
    (cd "$files/tree" && sha256sum -c "$state/server.sums")
    equal 'link' m1 "$(readlink "$files/tree/link-to-m1")"
    equal 'dangling link' /no/such/target "$(readlink "$files/tree/link-dangling")"
    equal 'length of the long link' 1000 "$(readlink -n "$files/tree/link-long" | wc -c)"
    equal 'mode of a file' 755 "$(stat -c %a "$files/tree/perm/run.sh")"
    equal 'entries of big' 2000 "$(find "$files/tree/big" -type f | wc -l)"
    equal 'a file whose name and directory are beyond ASCII' 77 "$(stat -c %s "$files"/tree/n?*/d*.txt)"
}

client_write() {
    local size local_sums
    mkdir -p "$files/out"
    for size in 0 1 1000 4096 1048576 1048577 67108864; do
        head -c "$size" /dev/urandom >"$files/out/f$size"
        rpcrdma cp "$files/out/f$size" "$(url "/rw/f$size")"
    done
    local_sums=$(cd "$files/out" && sha256sum f*)
    equal 'checksums inside the machine' "$local_sums" "$(in_server 'cd /export/rw; sha256sum f*' 200)"
    # Over a longer file: nothing of it is left.
    rpcrdma cp "$files/out/f1000" "$(url /rw/f1048576)"
    equal 'a file that was written over' "$(sum "$files/out/f1000")" "$(in_server 'sha256sum /export/rw/f1048576 | cut -d" " -f1')"
    printf 'from a pipe' | rpcrdma cp - "$(url /rw/piped)"
    equal 'what came from a pipe' 'from a pipe' "$(in_server 'cat /export/rw/piped')"
}

client_names() {
    rpcrdma mkdir "$(url /rw/dir)"
    printf 'one' | rpcrdma cp - "$(url /rw/dir/a)"
    rpcrdma mv "$(url /rw/dir/a)" "$(url /rw/dir/b)"
    equal 'renamed' 'b one' "$(in_server 'cd /export/rw/dir; echo $(ls) $(cat b)')"
    printf 'two' | rpcrdma cp - "$(url /rw/dir/c)"
    rpcrdma mv "$(url /rw/dir/c)" "$(url /rw/dir/b)"
    equal 'renamed over another' 'b two' "$(in_server 'cd /export/rw/dir; echo $(ls) $(cat b)')"
    rpcrdma rm "$(url /rw/dir/b)"
    equal 'removed' 'gone' "$(in_server '[ -e /export/rw/dir/b ] || echo gone')"
    # A tree with links and odd names there, looked at inside, and back again.
    mkdir -p "$files/odd/sub"
    ln -s sub/x "$files/odd/link"
    ln -s /nowhere "$files/odd/dangling"
    printf 'x' >"$files/odd/sub/x"
    printf 'y' >"$files/odd/$(printf 'line\nfeed, \377 and %%41')"
    printf 'z' >"$files/odd/$(printf '%0255d' 0)"
    head -c 300000 /dev/urandom >"$files/odd/sub/data"
    rpcrdma cp -r "$files/odd" "$(url /rw/odd)"
    equal 'links inside the machine' 'sub/x /nowhere' "$(in_server 'cd /export/rw/odd; echo $(readlink link) $(readlink dangling)')"
    equal 'a name of 255 bytes and another' 'zy' "$(in_server 'cd /export/rw/odd; cat 00*; cat line*')"
    rpcrdma cp -r "$(url /rw/odd)" "$files/back"
    diff -r --no-dereference "$files/odd" "$files/back"
    rpcrdma rm -r "$(url /rw/odd)"
    equal 'removed with all in it' 'gone' "$(in_server '[ -e /export/rw/odd ] || echo gone')"
}

client_errors() {
    must_fail rpcrdma cat "$(url /no-such)"
    must_fail rpcrdma ls "$(url /k/below)"
    must_fail rpcrdma rm "$(url /rw/not-there)"
    must_fail rpcrdma mkdir "$(url /rw)"
    must_fail rpcrdma cat "$(url /deep)"
    must_fail rpcrdma cat --uid 1000 --gid 1000 "$(url /perm/secret)"
}

client_no_crc() {
    equal 'checksum of m1' "$(in_server 'sha256sum /export/m1 | cut -d" " -f1')" "$(rpcrdma cat --crc off "$(url /m1)" | sha256sum | cut -d' ' -f1)"
    equal 'the CRC bit of the MPA reply' 0 $((16#$(set_up_flags down) & 0x40))
    head -c 3000000 /dev/urandom >"$files/no-crc"
    rpcrdma cp --crc off "$files/no-crc" "$(url /rw/no-crc)"
    equal 'checksum inside the machine' "$(sum "$files/no-crc")" "$(in_server 'sha256sum /export/rw/no-crc | cut -d" " -f1')"
}

# The kernel's server invalidates by its Send when all of a call's chunks have one handle. Seen in the flight recorder.
client_invalidation() {
    local recording=$logs/invalidation.jfr remote registrations
    RPCRDMA_JAVA_OPTS="-XX:StartFlightRecording:settings=default,settings=$project/docs/rpcrdma.jfc,filename=$recording" \
        rpcrdma cp "$(url /m64)" "$files/m64"
    "$JAVA_HOME/bin/jfr" print --events rpcrdma.RegionState,rpcrdma.Completion,rpcrdma.ConnectionEstablished "$recording" >"$logs/invalidation.txt"
    grep -A12 'rpcrdma.ConnectionEstablished' "$logs/invalidation.txt"
    remote=$(grep -c 'transition = "REMOTELY_INVALIDATED"' "$logs/invalidation.txt") || true
    registrations=$(grep -c 'transition = "REGISTERING"' "$logs/invalidation.txt") || true
    note "$registrations registrations, $remote ended by the kernel's Send with Invalidate"
    at_least 'registrations' 64 "$registrations"
    equal 'remote invalidations' "$registrations" "$remote"
}

client_counters() {
    local before after
    before=$(server_counters)
    at_least 'a counter of calls over TCP' 0 "$(counter "$before" tcp)"
    rpcrdma cp "$(url /m64)" "$files/m64"
    rpcrdma cp "$files/m64" "$(url /rw/m64)"
    after=$(server_counters)
    printf 'before: %s\nafter:  %s\n' "$before" "$after"
    equal "calls over TCP that the kernel counted" "$(counter "$before" tcp)" "$(counter "$after" tcp)"
    at_least 'RDMA Writes of the kernel' 64 $(($(counter "$after" write) - $(counter "$before" write)))
    at_least 'RDMA Reads of the kernel' 64 $(($(counter "$after" read) - $(counter "$before" read)))
    note "the kernel counted $(($(counter "$after" write) - $(counter "$before" write))) RDMA Writes, $(($(counter "$after" read) - $(counter "$before" read))) Reads, 0 calls over TCP"
}

group 'ours -> kernel' client_setup client_teardown
check 'ping, CRC on' ping_crc_on
check 'ping, CRC off' ping_crc_off
check 'ls: all files, and a directory of 2,000' client_list
check 'cat, cp -r: 0 bytes to 64 MiB, links' client_read 240
check 'cp: 0 bytes to 64 MiB, over a longer file, a pipe' client_write 240
check 'mkdir, mv, rm, links, odd names' client_names
check 'errors are one line' client_errors
check 'read and write with CRC off' client_no_crc
check 'remote invalidation' client_invalidation
check 'the counters of the kernel say RDMA' client_counters
