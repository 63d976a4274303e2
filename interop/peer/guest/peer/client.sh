# SPDX-License-Identifier: Apache-2.0
# Sourced by init: the kernel's NFS client, over siw.
modprobe -a sunrpc rpcrdma nfs nfsv3
mkdir -p /run/rpcbind /mnt
mount -t rpc_pipefs rpc_pipefs /var/lib/nfs/rpc_pipefs
