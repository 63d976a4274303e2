// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import java.util.Comparator;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.connection.Monitor;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.event.WireListener;
import org.rpcrdma4j.transport.time.TimeSource;
import org.rpcrdma4j.verbs.RdmaDevice;

/**
 * What all parts of one client share.
 *
 * @param byOrder which of two calls is older: asked a few times for each call when a connection is lost, however many are out
 */
record ClientContext(
        RdmaDevice device,
        ClientOptions options,
        TimeSource time,
        Executor worker,
        Executor callbacks,
        @Nullable WireListener wireListener,
        @Nullable ReverseHandler reverseHandler,
        @Nullable EligibilityCheck eligibility,
        Monitor monitor,
        Counters<ClientCounter> counters,
        BounceBuffers bounces,
        Comparator<ClientCall> byOrder) {

    static ClientContext of(
            RdmaDevice device,
            ClientOptions options,
            TimeSource time,
            Executor worker,
            Executor callbacks,
            @Nullable WireListener wireListener,
            @Nullable ReverseHandler reverseHandler,
            @Nullable EligibilityCheck eligibility) {
        Counters<ClientCounter> counters = new Counters<>(ClientCounter.class);
        return new ClientContext(
                device,
                options,
                time,
                worker,
                callbacks,
                wireListener,
                reverseHandler,
                eligibility,
                new Monitor(),
                counters,
                new BounceBuffers(counters),
                ClientCall.BY_ORDER);
    }
}
