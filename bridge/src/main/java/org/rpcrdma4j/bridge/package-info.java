// SPDX-License-Identifier: Apache-2.0
/** A bridge between ONC RPC over TCP and over RDMA: any program, with NFS's data placed directly on the RDMA side. */
package org.rpcrdma4j.bridge;
