// SPDX-License-Identifier: Apache-2.0
/** A program that moves payloads, for measurements and trials of the RPC-over-RDMA transport. */
package org.rpcrdma4j.cli.payload;
