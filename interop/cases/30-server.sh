# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The kernel's client against our server.
#
# With INTEROP_SERVER=kernel the server is the kernel's own, in the same machine: what fails there too says nothing about ours.

# ---------------------------------------------------------------- our server
# serve_start [options]: exports $exported. Its ports are in files, so that a restart has the same ones.
serve_start() {
    [ -s "$state/serve.port" ] || {
        free_port >"$state/serve.port"
        free_port >"$state/serve.mountd"
    }
    background serve "$tool" serve "$exported" --listen "127.0.0.1:$(cat "$state/serve.port")" --mountd-port "$(cat "$state/serve.mountd")" \
        --squash none "$@"
    await 60 'the port of our server' listens "$(cat "$state/serve.port")" || return 1
    await 60 'the MOUNT port of our server' listens "$(cat "$state/serve.mountd")"
}

# Asks our server to end, which it does in order and with nothing left registered: no region, no lease.
serve_end() {
    signal serve TERM
    await 15 'the end of our server' eval '! alive serve'
    tail -n 1 "$logs/serve.log"
    tail -n 1 "$logs/serve.log" | grep -q '^served .*; nothing is left registered$' || fail "at the end of our server: $(tail -n 1 "$logs/serve.log")"
}

server_setup() {
    exported=$files/export
    mkdir -p "$exported"
    if [ "${INTEROP_SERVER:-}" = kernel ]; then
        mount_what='10.0.2.15:/export/rw /mnt -o port=20049,mountport=20048'
        guest=server
        vm_start server
        return
    fi
    serve_start || return 1
    proxy_start relay "$(cat "$state/serve.port")" || return 1
    mount_what="10.0.2.2:/ /mnt -o port=$(proxy_port relay),mountport=$(cat "$state/serve.mountd")"
    guest=client
    vm_start client
}
server_teardown() {
    vm stop client server
    end relay
    end serve
}

# ---------------------------------------------------------------- the guest
in_guest() { vm exec "$guest" "set -e; $1" $((${2:-120} * patience)); }
# mounted SCRIPT [SECONDS]: runs it with our export mounted at /mnt (mounting it if it is not) and /mnt/$case as its empty directory
mounted() {
    in_guest "
        grep -q ' /mnt nfs' /proc/mounts || mount.nfs $mount_what,vers=3,proto=rdma,mountproto=tcp,nolock,hard
        drop() { sync; echo 3 >/proc/sys/vm/drop_caches; }
        fail() { echo \"FAILED: \$*\"; exit 1; }
        sum() { sha256sum \"\$1\" | cut -d' ' -f1; }
        random() { head -c \"\$1\" /dev/urandom; }
        equal() { [ \"\$2\" = \"\$3\" ] || fail \"\$1: expected \$2, found \$3\"; }
        d=/mnt/${FUNCNAME[1]}; rm -rf \$d; mkdir \$d; cd \$d
        $1" "${2:-110}"
}
unmounted() { in_guest "cd /; if grep -q ' /mnt nfs' /proc/mounts; then umount /mnt; fi"; }
# mountstats FIELD: of the line "xprt: rdma", by its name in Linux's xprt_rdma_print_stats
mountstats() {
    local names=(x x x bind connect connect_time idle sends recvs bad_xids req_u bklog_u read_chunks write_chunks reply_chunks rdma_request
        rdma_reply pullup fixup hardway failed_marshal bad_reply nomsg_calls mrs_recycled mrs_orphaned mrs_allocated local_inv empty_sendctx)
    local i
    for i in "${!names[@]}"; do
        [ "${names[i]}" != "$1" ] || awk -v i="$((i + 1))" '/xprt:[ \t]*rdma/ { print $i }' "$logs/client-mountstats.txt"
    done
}

server_mount() {
    mounted 'grep " /mnt " /proc/mounts; df /mnt; stat -c "%a %F" .'
    note "$(in_guest "grep -o 'rsize=[0-9]*,wsize=[0-9]*' /proc/mounts | head -1")"
}

# Whole files there and back; what the host sees has the checksums of the guest's originals, and the other way round.
server_copy() {
    mounted '
        random 67108864 >/tmp/f
        for n in 0 1 2 3 4 5 1000 4095 4096 4097 65537 1048575 1048576 1048577 67108864; do
            head -c $n /tmp/f >/tmp/g; cp /tmp/g f$n; drop
            cmp /tmp/g f$n || fail "file of $n bytes"
            echo "$(sum /tmp/g)  f$n" >>/tmp/sums
        done
        rm -f /tmp/f /tmp/g' 300
    [ "${INTEROP_SERVER:-}" != kernel ] || return 0
    in_guest 'cat /tmp/sums' >"$state/guest.sums"
    (cd "$exported/server_copy" && sha256sum -c "$state/guest.sums") || fail 'the exported files differ from what the guest wrote'
    # And what changes on the server is seen by the client when it opens the file.
    head -c 3000000 /dev/urandom >"$exported/server_copy/fresh"
    equal 'a file of the host' "$(sum "$exported/server_copy/fresh")" "$(in_guest 'sha256sum /mnt/server_copy/fresh | cut -d" " -f1')"
}

server_find_tar() {
    mounted '
        tar -C / -cf /tmp/t.tar etc lib/modules peer usr/sbin
        tar -xf /tmp/t.tar; drop
        for x in etc lib/modules peer usr/sbin; do diff -r /$x $x || fail "diff $x"; done
        (cd / && find etc lib/modules peer usr/sbin | sort) >/tmp/a; find etc lib/modules peer usr/sbin | sort >/tmp/b; cmp /tmp/a /tmp/b
        tar -cf packed.tar etc lib usr peer; drop
        mkdir /tmp/x; tar -C /tmp/x -xf packed.tar; diff -r /usr/sbin /tmp/x/usr/sbin
        ln -s /no/such/target dangling; equal "link" /no/such/target "$(readlink dangling)"
        ln -s "$(printf "%01000d" 0)" long; equal "long link" "$(printf "%01000d" 0)" "$(readlink long)"
        ln packed.tar hard; equal "links" 2 "$(stat -c %h packed.tar)"
        n="$(printf "naïve \n\377 name")"; echo x >"$n"; drop; equal "odd name" x "$(cat "$n")"
        l=$(printf "%0255d" 0); echo x >$l; drop; [ -e $l ]; ! echo x >${l}0 || fail "a name of 256 bytes"
        chmod 4751 hard; equal mode 4751 "$(stat -c %a packed.tar)"
        chown 1000:1000 hard; equal owner 1000:1000 "$(stat -c %u:%g packed.tar)"
        touch -d "2001-02-03 04:05:06" hard; equal time 981173106 "$(stat -c %Y packed.tar)"
        # A JVM cannot make pipes: MKNOD is answered with NFS3ERR_NOTSUPP, which Linux hands on as it is, 524.
        mkfifo fifo 2>/tmp/err && [ -p fifo ] || grep -q "error 524" /tmp/err || fail "$(cat /tmp/err)"
        echo "$(wc -l </tmp/a) entries"; rm -rf /tmp/x /tmp/t.tar' 300
}

# Buffered and direct at the same file: what one writes the other reads.
server_dd() {
    mounted '
        random 67108864 >/tmp/f
        for bs in 1 511 4096 100000 1048576; do
            case $bs in 1 | 511) count=150;; 4096) count=64;; 100000) count=20;; *) count=6;; esac
            head -c $((bs * count)) /tmp/f >/tmp/g
            dd if=/tmp/f of=b bs=$bs count=$count conv=fsync 2>/dev/null
            drop; cmp /tmp/g b || fail "buffered $bs"
            dd if=/tmp/f of=c bs=$bs count=$count oflag=direct 2>/dev/null
            cmp /tmp/g c || fail "direct $bs"
            dd if=b iflag=direct bs=$bs 2>/dev/null | cmp /tmp/g - || fail "direct read $bs"
            # In the midst of the file, without cutting it off.
            dd if=/tmp/f of=b bs=$bs count=2 seek=1 conv=notrunc oflag=direct 2>/dev/null
            { head -c $bs /tmp/f; head -c $((bs * 2)) /tmp/f; tail -c +$((3 * bs + 1)) /tmp/g; } | cmp - b || fail "overwrite $bs"
        done
        dd if=/tmp/f of=d bs=67108864 count=1 oflag=direct 2>/dev/null
        cmp /tmp/f d || fail "direct 64 MiB"
        rm -f /tmp/f /tmp/g' 300
}

server_overwrite() {
    mounted '
        /tools/fsmodel buffered f 1000000 400 1
        /tools/fsmodel direct g 500000 300 2
        /tools/fsmodel buffered h 60000 400 3 & a=$!
        /tools/fsmodel direct i 200000 200 4 & b=$!
        /tools/fsmodel buffered j 8000000 100 5
        wait $a; wait $b' 300
}

server_storm() {
    mounted '
        # Four at once make, rename over each other, link and remove in one directory.
        storm() {
            i=0
            while [ $i -lt 25 ]; do
                echo "$1 $i" >$1.$i; mv $1.$i shared.$((i % 3)); echo "$1 $i" >$1.$i; ln $1.$i $1.l$i; mv $1.l$i $1.m; rm $1.$i
                [ -s shared.$((i % 3)) ] || echo "empty" >>/tmp/storm.bad
                i=$((i + 1))
            done
            rm $1.m
        }
        rm -f /tmp/storm.bad; : >shared.0; : >shared.1; : >shared.2
        storm a & a=$!; storm b & b=$!; storm c & c=$!; storm d & d=$!; for p in $a $b $c $d; do wait $p; done
        [ ! -e /tmp/storm.bad ] || fail "$(wc -l </tmp/storm.bad) times nothing in a file that was renamed over"
        drop; equal "left over" "shared.0 shared.1 shared.2" "$(echo *)"
        # An open file that is removed is still read (the client renames it away).
        echo still >open; exec 3<open; rm open; equal "removed while open" still "$(cat <&3)"; exec 3<&-
        # Directories.
        mkdir -p x/y/z; ! rmdir x 2>/dev/null || fail "rmdir of what is not empty"
        mkdir t; mv x/y t/; [ -d t/y/z ]; ! mv t t/y/z/ 2>/dev/null || fail "a directory into itself"; rm -r t x
        equal "left over" "shared.0 shared.1 shared.2" "$(echo *)"' 200
}

# names FIRST STEP: lines, in order
list_names='names() { awk "BEGIN { for (i = $1; i <= 10000; i += $2) printf \"entry %05d\\n\", i }"; }'
server_large_directory() {
    if [ "${INTEROP_SERVER:-}" = kernel ]; then
        mounted "$list_names; mkdir many; cd many; names 1 1 | tr '\n' '\0' | xargs -0 touch" 300
    else
        mounted 'mkdir many'
        (eval "$list_names" && cd "$exported/server_large_directory/many" && names 1 1 | tr '\n' '\0' | xargs -0 touch)
    fi
    mounted_again "$list_names"'
        cd many; names 1 1 >/tmp/want
        ls | cmp - /tmp/want || fail "names"
        equal "lines of ls -l" 10001 "$(ls -l | wc -l)"
        names 1 5 | tr "\n" "\0" | xargs -0 rm
        names 1 1 | awk "NR % 5 != 1" >/tmp/want; drop; ls | cmp - /tmp/want || fail "names after removing"' 280
}
# As mounted, with the directory of the case kept.
mounted_again() { in_guest "drop() { sync; echo 3 >/proc/sys/vm/drop_caches; }; fail() { echo \"FAILED: \$*\"; exit 1; }
    equal() { [ \"\$2\" = \"\$3\" ] || fail \"\$1: expected \$2, found \$3\"; }; drop; cd /mnt/${FUNCNAME[1]}; $1"  "${2:-110}"; }

server_fio() {
    mounted '
        export LD_LIBRARY_PATH=/tools/lib
        fio() { /tools/usr/bin/fio --thread --minimal --directory=. --verify=crc32c --verify_fatal=1 "$@" >/tmp/fio.out 2>&1 || { cat /tmp/fio.out; fail "fio $*"; }; }
        fio --name=mixed --rw=randrw --rwmixread=60 --bsrange=512-262144 --size=2m --numjobs=3 --ioengine=psync --fsync=16 --end_fsync=1
        fio --name=direct --rw=randrw --bsrange=4096-1048576 --blockalign=4096 --size=4m --numjobs=2 --direct=1 --ioengine=psync
        fio --name=mapped --rw=randrw --bs=4096 --size=2m --ioengine=mmap' 400
}

server_unmount() {
    in_guest 'cat /proc/self/mountstats' >"$logs/client-mountstats.txt"
    unmounted
    grep 'xprt:' "$logs/client-mountstats.txt"
    equal 'bad replies' 0 "$(mountstats bad_reply)"
    # Linux counts here, too, that a call waited until it had made more regions: it does so at most once for each lot of regions.
    [ "$(mountstats failed_marshal)" -le $(($(mountstats mrs_allocated) / 2)) ] || fail "$(mountstats failed_marshal) failed marshals"
    equal 'bad XIDs' 0 "$(mountstats bad_xids)"
    at_least 'read chunks' 1 "$(mountstats read_chunks)"
    at_least 'write chunks' 1 "$(mountstats write_chunks)"
    at_least 'reply chunks' 1 "$(mountstats reply_chunks)"
    note "$(mountstats sends) calls; chunks: $(mountstats read_chunks) read, $(mountstats write_chunks) write, $(mountstats reply_chunks) reply; $(mountstats local_inv) local invalidations"
    in_guest '! dmesg | grep -E "BUG|WARNING|Call Trace|rpcrdma:.*(fail|error)"'
}

# Neither side asks: no checksums. The kernel asks: there are, though our server would not.
server_crc() {
    local wish want copy='random 3000000 >/tmp/g; cp /tmp/g f; drop; cmp /tmp/g f; rm /tmp/g'
    unmounted
    serve_end
    serve_start --crc off
    for wish in N Y; do
        [ "$wish" = Y ] && want=64 || want=0
        in_guest "echo $wish >/sys/module/siw/parameters/mpa_crc_required"
        mounted "$copy"
        equal 'the CRC bit of the MPA request of the kernel' "$want" $((16#$(proxy_value relay setup_up | cut -c33-34) & 0x40))
        equal 'the CRC bit of our MPA reply' "$want" $((16#$(proxy_value relay setup_down | cut -c33-34) & 0x40))
        unmounted
    done
    in_guest 'echo N >/sys/module/siw/parameters/mpa_crc_required'
    serve_end
    serve_start
}

group 'kernel -> ours' server_setup server_teardown
check 'mount -o proto=rdma' server_mount
check 'cp, cmp: 0 bytes to 64 MiB, both ways' server_copy 420
check 'tar, find, diff, links, modes, odd names' server_find_tar 300
check 'dd: buffered and direct, 1 byte to 64 MiB' server_dd 300
check 'random overwrites compared with a model' server_overwrite 300
check 'rename and unlink storms' server_storm 240
check 'a directory of 10,000 entries' server_large_directory 300
check 'fio: mixed load, verified' server_fio 400
check 'unmount; mountstats' server_unmount 60
check 'without CRC, and with CRC because the kernel asks' server_crc
