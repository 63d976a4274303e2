// SPDX-License-Identifier: Apache-2.0
/**
 * The Requester: sends RPC calls over RPC-over-RDMA version 1 and matches their replies.
 *
 * <p>The way of a call: {@link org.rpcrdma4j.transport.client.RpcRdmaClient#send} makes a {@code ClientCall} and queues it in {@code
 * Requester}; {@code ClientConnection} takes it out when a credit and a slot are free; {@code Marshaller} chooses its form, registers
 * its memory and writes its header; the {@code RequestSlot} is posted; {@code ReplyReceiver} matches the reply by its XID and {@code
 * ReplyValidator} holds it against what was offered; the regions are invalidated; only then the {@link
 * org.rpcrdma4j.transport.client.PendingReply} completes.
 */
package org.rpcrdma4j.transport.client;
