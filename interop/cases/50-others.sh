# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Other people's programs: libnfs's tools and nfs-ganesha, which know only TCP, with our bridge between them. All of it runs in a network
# of its own that has only a loopback interface, with a /run of its own: ganesha wants rpcbind, and that listens everywhere.
#
#   libnfs --TCP--> bridge --RDMA--> our server                 ports 4001, 20049
#   libnfs --TCP--> bridge --RDMA--> bridge --TCP--> ganesha    ports 4003, 4002, 33049
#   libnfs --TCP--> ganesha                                     port 33049, for comparison

apart() { nsenter -t "$(cat "$state/apart.pid")" -n -m "$@"; }
apart_background() {
    local name=$1
    shift
    background "$name" nsenter -t "$(cat "$state/apart.pid")" -n -m "$@"
}
apart_listens() { apart bash -c "exec 3<>/dev/tcp/127.0.0.1/$1" 2>/dev/null; }

others_packages() {
    local missing=()
    command -v nfs-cp >/dev/null || missing+=(libnfs-utils)
    command -v ganesha.nfsd >/dev/null || missing+=(nfs-ganesha nfs-ganesha-vfs)
    command -v rpcbind >/dev/null || missing+=(rpcbind)
    command -v ip >/dev/null || missing+=(iproute2)
    [ ${#missing[@]} -gt 0 ] || return 0
    # Debian starts the servers that it installs, unless a policy says no: these would listen everywhere.
    local policy=/usr/sbin/policy-rc.d made='' status=0
    [ -e $policy ] || { printf '#!/bin/sh\nexit 101\n' >$policy && chmod 755 $policy && made=1; }
    timeout 300 apt-get -qq update || true
    DEBIAN_FRONTEND=noninteractive timeout 600 apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends "${missing[@]}" </dev/null || status=$?
    [ -z "$made" ] || rm -f $policy
    return "$status"
}

others_setup() {
    others_packages || {
        echo 'libnfs-utils, nfs-ganesha-vfs or rpcbind could not be installed'
        return 77
    }
    mkdir -p "$files/ganesha" "$files/apart"
    background apart unshare --net --mount sleep infinity
    await 10 'a network of its own' eval 'alive apart && [ "$(readlink "/proc/$(cat "$state/apart.pid")/ns/net")" != "$(readlink /proc/self/ns/net)" ]' || return 1
    apart ip link set lo up || return 1
    apart mount --make-rprivate / || return 1
    apart mount -t tmpfs tmpfs /run || return 1
    apart mkdir /run/rpcbind || return 1
    apart_background rpcbind rpcbind -f -w
    await 10 rpcbind apart_listens 111 || return 1
    cat >"$state/ganesha.conf" <<X
NFS_CORE_PARAM { Protocols = 3; NFS_Port = 33049; MNT_Port = 33048; Enable_NLM = false; Enable_RQUOTA = false; mount_path_pseudo = false; }
EXPORT { Export_Id = 1; Path = $files/ganesha; Pseudo = /e; Protocols = 3; Transports = TCP; Access_Type = RW; Squash = No_Root_Squash; SecType = sys,none; FSAL { Name = VFS; } }
X
    apart_background ganesha ganesha.nfsd -F -f "$state/ganesha.conf" -L "$logs/ganesha.log" -p /run/ganesha.pid
    apart_background apart-serve "$tool" serve "$files/apart" --listen 127.0.0.1:20049 --mountd-port 20048 --squash none --export /apart
    await 60 'our server' apart_listens 20049 || return 1
    apart_background bridge-1 "$tool" bridge --from tcp:127.0.0.1:4001 --to rdma:127.0.0.1:20049
    await 60 ganesha apart_listens 33049 || return 1
    apart_background bridge-2 "$tool" bridge --from rdma:127.0.0.1:4002 --to tcp:127.0.0.1:33049
    await 60 'the second bridge' apart_listens 4002 || return 1
    apart_background bridge-3 "$tool" bridge --from tcp:127.0.0.1:4003 --to rdma:127.0.0.1:4002
    await 60 'the first bridge' apart_listens 4001 || return 1
    await 60 'the third bridge' apart_listens 4003
}
others_teardown() {
    local name
    for name in bridge-3 bridge-2 bridge-1 apart-serve ganesha rpcbind apart; do end "$name"; done
}

# Where each way leads: libnfs's URL of a path in the export, and the exported directory on this machine.
way_url() {
    case $1 in
        bridge-ours) printf 'nfs://127.0.0.1/apart/%s?nfsport=4001&mountport=4001&version=3' "$2" ;;
        bridge-ganesha) printf 'nfs://127.0.0.1%s/%s?nfsport=4003&mountport=33048&version=3' "$files/ganesha" "$2" ;;
        ganesha) printf 'nfs://127.0.0.1%s/%s?nfsport=33049&mountport=33048&version=3' "$files/ganesha" "$2" ;;
    esac
}
way_directory() { [ "$1" = bridge-ours ] && printf '%s' "$files/apart" || printf '%s' "$files/ganesha"; }
data_files() {
    [ ! -e "$files/data/f67108864" ] || return 0
    mkdir -p "$files/data"
    for n in 0 1 1000 4097 1048576 3000001 67108864; do head -c "$n" /dev/urandom >"$files/data/f$n"; done
}

# Lists, copies both ways and compares.
libnfs_way() {
    local way=$1 n directory
    # A directory of its own: ganesha remembers what was in one, and would not see that it was removed here.
    directory=$(way_directory "$way")/$way
    data_files
    mkdir -p "$directory/many"
    (cd "$directory/many" && seq -f 'entry %05.0f' 1 2000 | tr '\n' '\0' | xargs -0 touch)
    apart nfs-ls "$(way_url "$way" "$way/many")" | awk '{ print $NF }' | sort >"$state/listed"
    diff <(seq -f '%05.0f' 1 2000) "$state/listed" >/dev/null || fail 'the 2,000 names differ'
    for n in 0 1 1000 4097 1048576 3000001 67108864; do
        apart timeout 100 nfs-cp "$files/data/f$n" "$(way_url "$way" "$way/f$n")"
        cmp "$files/data/f$n" "$directory/f$n"
        rm -f "$files/data/back"
        apart timeout 100 nfs-cp "$(way_url "$way" "$way/f$n")" "$files/data/back"
        cmp "$files/data/f$n" "$files/data/back"
    done
    apart nfs-cat "$(way_url "$way" "$way/f3000001")" | cmp - "$files/data/f3000001"
}
libnfs_bridge_ours() { libnfs_way bridge-ours; }
libnfs_bridge_ganesha() { libnfs_way bridge-ganesha; }
libnfs_ganesha() { libnfs_way ganesha; }

# The same calls with and without the bridges: the same output and the same errors.
libnfs_same() {
    local way
    local same=$files/ganesha/same
    mkdir -p "$same/d/e"
    ln -s d/e "$same/link"
    ln -s /nowhere "$same/dangling"
    head -c 12345 /dev/urandom >"$same/file"
    chmod 4711 "$same/file"
    chown 12:34 "$same/d"
    touch "$same/$(printf 'odd \377\n name')"
    data_files
    for way in ganesha bridge-ganesha; do
        {
            for command in "nfs-ls $(way_url $way same)" "nfs-ls -R $(way_url $way same)" "nfs-ls $(way_url $way same/no-such)" \
                "nfs-ls $(way_url $way same/file)" "nfs-cat $(way_url $way same/no-such)" "nfs-cat $(way_url $way same/d)" \
                "nfs-cp $files/data/f1000 $(way_url $way same/no/such/directory)" "nfs-ls $(way_url $way same/link/)"; do
                # shellcheck disable=SC2086 # words
                apart timeout 60 $command 2>&1 || echo "status $?"
            done
        } | sed 's/nfsport=[0-9]*//g' >"$state/same-$way"
    done
    cat "$state/same-ganesha"
    ! grep -Eq '^status 1[2-9][0-9]' "$state/same-ganesha" || fail 'a command of libnfs did not run, or did not end'
    for name in dangling file link; do
        grep -q "$name" "$state/same-ganesha" || fail "ganesha did not list $name"
    done
    diff "$state/same-ganesha" "$state/same-bridge-ganesha"
}

# Our client over RDMA, and a bridge in front of ganesha.
ours_ganesha() {
    local url="nfs://127.0.0.1:4002$files/ganesha"
    data_files
    apart "$tool" cp -r "$files/data" "$url/data?mountport=33048"
    diff -r "$files/data" "$files/ganesha/data"
    apart "$tool" cp -r "$url/data?mountport=33048" "$files/ganesha-back"
    diff -r "$files/data" "$files/ganesha-back"
}

group 'others' others_setup others_teardown
check 'libnfs, bridge, RDMA, our server' libnfs_bridge_ours 240
check 'libnfs, ganesha (TCP, for comparison)' libnfs_ganesha 240
check 'libnfs, bridge, RDMA, bridge, ganesha' libnfs_bridge_ganesha 300
check 'the same answers with and without the bridges' libnfs_same
check 'our client, RDMA, bridge, ganesha' ours_ganesha 240
