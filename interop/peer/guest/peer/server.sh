# SPDX-License-Identifier: Apache-2.0
# Sourced by init: knfsd on TCP 2049 and on RDMA 20049.
modprobe -a ext4 crc32c-intel 2>/dev/null
mount -t ext4 -o noatime,user_xattr,acl /dev/vda /export || say 'no export disk'
mkdir -p /run/rpcbind
: >/var/lib/nfs/rmtab
: >/var/lib/nfs/etab
modprobe lockd nlm_tcpport=32803 nlm_udpport=32803
modprobe -a sunrpc nfsd rpcrdma
mount -t rpc_pipefs rpc_pipefs /var/lib/nfs/rpc_pipefs
mount -t nfsd nfsd /proc/fs/nfsd
rpcbind -w || rpcbind
rpc.statd --no-notify --port 32765 --outgoing-port 32766
grace=$(arg grace 10)
echo "$grace" >/proc/fs/nfsd/nfsv4leasetime
echo "$grace" >/proc/fs/nfsd/nfsv4gracetime
# knfsd derives its largest READ and WRITE from the memory (128 KiB with 768 MiB): 1 MiB, as a real server has
arg maxblk 1048576 >/proc/fs/nfsd/max_block_size
echo '/export *(rw,sync,no_subtree_check,no_root_squash,insecure,fsid=0,crossmnt)' >/etc/exports
exportfs -ra || say 'exportfs failed'
rpc.nfsd --no-udp -V 3 -V 4 --lease-time "$grace" --grace-time "$grace" "$(arg threads 8)" || say 'rpc.nfsd failed'
rpc.mountd --port 20048 --no-udp || say 'mountd failed'
echo 'rdma 20049' >/proc/fs/nfsd/portlist || say 'rdma listener failed'
echo Y >/proc/fs/nfsd/v4_end_grace 2>/dev/null
say "portlist: $(tr '\n' ';' </proc/fs/nfsd/portlist) versions: $(cat /proc/fs/nfsd/versions)"
