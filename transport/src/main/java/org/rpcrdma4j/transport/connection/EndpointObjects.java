// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.connection;

import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.CompletionHandler;
import org.rpcrdma4j.verbs.CompletionQueue;
import org.rpcrdma4j.verbs.ProtectionDomain;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.QueuePairOptions;
import org.rpcrdma4j.verbs.RdmaDevice;

/** What an endpoint has of its device: made together, or not at all, and given back together. */
record EndpointObjects(
        ProtectionDomain domain,
        CompletionQueue completions,
        QueuePair queuePair,
        BufferSlab receives,
        BufferSlab sends) {

    private static final System.Logger LOG = System.getLogger(EndpointObjects.class.getName());

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
        } catch (RuntimeException | OutOfMemoryError e) {
            undo.forEach(Runnable::run);
            throw e;
        }
    }

    /** After the queue pair was closed: gives all the rest back. What the device does not take back is lost, and that is logged. */
    void closeRest() {
        guarded("completion queue", completions::close);
        guarded("receive buffers", receives::close);
        guarded("send buffers", sends::close);
        guarded("protection domain", domain::close);
    }

    private void guarded(String what, Runnable close) {
        try {
            close.run();
        } catch (RuntimeException e) {
            LOG.log(
                    Level.WARNING,
                    "connection " + queuePair.number() + ": its " + what + " could not be given back",
                    e);
        }
    }
}
