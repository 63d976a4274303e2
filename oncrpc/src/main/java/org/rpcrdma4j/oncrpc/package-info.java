// SPDX-License-Identifier: Apache-2.0

/**
 * oncrpc4j over RDMA: programs made for oncrpc4j get this transport by exchanging where their {@code RpcTransport} comes from ({@link
 * org.rpcrdma4j.oncrpc.RdmaOncRpcClient}), and by passing the builder of their service to {@link
 * org.rpcrdma4j.oncrpc.RdmaOncRpcSvc} too.
 *
 * <pre>
 *   client                                              server
 *   RpcCall -> RdmaRpcTransport                         RequestHandler -> CallDispatcher -> RpcDispatchable
 *                |  CallEncoder: Xdr -> CallMessage                          |  ReceivedXdr: no copy at chunks
 *                |  RdmaReplyQueue, PendingCall: fence first                 |  ReplyingTransport: Xdr -> ReplyPieces
 *              RpcRdmaClient                                              ServerRequest
 *                |  ReplyDelivery: Reply -> ReceivedXdr -> RpcReply
 * </pre>
 *
 * <p>What may be placed directly is decided by {@link org.rpcrdma4j.transport.ulb.Bindings}, on both sides, never by size alone. Without a
 * binding large calls go whole by a Position-Zero chunk, and large replies by a Reply chunk.
 */
package org.rpcrdma4j.oncrpc;
