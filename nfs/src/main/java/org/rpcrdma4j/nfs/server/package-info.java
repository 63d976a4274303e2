// SPDX-License-Identifier: Apache-2.0
/** A server of NFS version 3 and MOUNT version 3 over RDMA and TCP: one directory, from {@link org.rpcrdma4j.nfs.export}. */
package org.rpcrdma4j.nfs.server;
