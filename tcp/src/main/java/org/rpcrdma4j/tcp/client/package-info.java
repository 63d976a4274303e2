// SPDX-License-Identifier: Apache-2.0
/** A client of ONC RPC over TCP, which behaves as the one over RDMA does. */
package org.rpcrdma4j.tcp.client;
