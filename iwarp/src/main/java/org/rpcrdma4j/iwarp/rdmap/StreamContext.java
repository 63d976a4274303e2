// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import java.util.concurrent.locks.ReentrantLock;
import org.rpcrdma4j.iwarp.mem.StagTable;
import org.rpcrdma4j.iwarp.queue.InboundReads;
import org.rpcrdma4j.iwarp.queue.ReceiveQueue;
import org.rpcrdma4j.iwarp.queue.SendQueue;
import org.rpcrdma4j.verbs.ProtectionDomain;

/**
 * What the two directions of one stream share.
 *
 * @param domain the queue pair's protection domain
 * @param queuePair its number
 * @param regions the device's regions
 * @param lock guards the queues; held shortly, never while memory is copied or a socket is used
 * @param sends the send queue
 * @param receives the receive queue
 * @param inboundReads Read Requests of the peer that wait for an answer
 */
public record StreamContext(
        ProtectionDomain domain,
        int queuePair,
        StagTable regions,
        ReentrantLock lock,
        SendQueue sends,
        ReceiveQueue receives,
        InboundReads inboundReads) {}
