// SPDX-License-Identifier: Apache-2.0
/**
 * The Responder of RPC-over-RDMA version 1: takes calls, pulls their Read chunks, hands complete RPC messages to a {@link
 * org.rpcrdma4j.transport.server.RequestHandler}, and answers by Send, Write chunks and Reply chunk.
 */
package org.rpcrdma4j.transport.server;
