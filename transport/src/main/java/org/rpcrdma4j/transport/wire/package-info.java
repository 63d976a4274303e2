// SPDX-License-Identifier: Apache-2.0
/**
 * What RPC-over-RDMA version 1 puts in front of an RPC message, and what the two ends tell each other at connect: codecs, pure
 * functions on memory. Nothing here has a thread, a clock or a connection; nothing decoded is trusted.
 *
 * <pre>
 * byte 0        XID                 of the RPC message that follows or lies in a chunk
 *      4        version             1; in an RDMA_ERROR the version word of the message that failed
 *      8        credits             call: requested, reply: granted
 *     12        procedure           0 RDMA_MSG, 1 RDMA_NOMSG, 2 RDMA_MSGP, 3 RDMA_DONE, 4 RDMA_ERROR
 *     ---- RDMA_MSG and RDMA_NOMSG --------------------------------------------------------
 *     16        Read list           { 1, position, segment } ... 0
 *               Write list          { 1, number n, n segments } ... 0
 *               Reply chunk         0, or { 1, number n, n segments }
 *               RPC message         RDMA_MSG only, as far as no chunk carries it
 *     ---- RDMA_ERROR ---------------------------------------------------------------------
 *     16        error code          1 ERR_VERS, 2 ERR_CHUNK
 *     20        low, high version   ERR_VERS only
 *
 * segment       handle (4), length (4), offset (8)
 * </pre>
 *
 * <p>{@link org.rpcrdma4j.transport.wire.TransportHeader} carries one header; it is made once, refilled by
 * {@link org.rpcrdma4j.transport.wire.HeaderDecoder} or by its owner, and written by
 * {@link org.rpcrdma4j.transport.wire.HeaderEncoder}. {@link org.rpcrdma4j.transport.wire.PrivateMessage} is the private data of
 * the connection set-up (RFC 8797).
 */
package org.rpcrdma4j.transport.wire;
