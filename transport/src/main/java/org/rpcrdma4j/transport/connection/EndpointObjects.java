// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.connection;

import java.util.ArrayDeque;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.CompletionHandler;
import org.rpcrdma4j.verbs.CompletionQueue;
import org.rpcrdma4j.verbs.ProtectionDomain;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.QueuePairOptions;
import org.rpcrdma4j.verbs.RdmaDevice;

/** What an endpoint has of its device: made together, or not at all. */
record EndpointObjects(
        ProtectionDomain domain,
        CompletionQueue completions,
        QueuePair queuePair,
        BufferSlab receives,
        BufferSlab sends) {

    static EndpointObjects create(RdmaDevice device, EndpointOptions options, CompletionHandler handler) {
        ArrayDeque<Runnable> undo = new ArrayDeque<>();
        try {
            ProtectionDomain domain = device.allocateProtectionDomain();
            undo.push(domain::close);
            CompletionQueue completions =
                    device.createCompletionQueue(options.sendDepth() + options.receives(), handler);
            undo.push(completions::close);
            BufferSlab receives =
                    new BufferSlab(domain, options.receives(), options.receiveBufferBytes(), Access.LOCAL_WRITE);
            undo.push(receives::close);
            BufferSlab sends =
                    new BufferSlab(domain, options.sendBuffers(), options.sendBufferBytes(), Access.LOCAL_READ);
            undo.push(sends::close);
            QueuePair queuePair = domain.createQueuePair(new QueuePairOptions(
                    completions, completions, options.sendDepth(), options.receives(), options.maxSges()));
            return new EndpointObjects(domain, completions, queuePair, receives, sends);
        } catch (RuntimeException e) {
            undo.forEach(Runnable::run);
            throw e;
        }
    }
}
