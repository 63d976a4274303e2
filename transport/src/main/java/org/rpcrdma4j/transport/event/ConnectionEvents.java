// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.event;

import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.MemoryAddress;
import jdk.jfr.Name;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/** The flight recorder's events on the life of connections. XIDs, keys and ids of work requests are shown as addresses are, in hexadecimal. */
final class ConnectionEvents {

    private ConnectionEvents() {}

    @Name("rpcrdma.Connect")
    @Label("Connect")
    @Description("An attempt to connect has ended")
    static final class Connect extends TransportEvent {
        static final Connect PROBE = new Connect();

        @Label("Took")
        @Timespan(Timespan.NANOSECONDS)
        long took;

        @Label("Established")
        boolean established;

        @Label("Outcome")
        @Nullable
        String outcome;
    }

    @Name("rpcrdma.ConnectionEstablished")
    @Label("Connection Established")
    @Description("What was agreed when a connection was set up")
    static final class ConnectionEstablished extends TransportEvent {
        static final ConnectionEstablished PROBE = new ConnectionEstablished();

        @Label("Local Address")
        @Nullable
        String localAddress;

        @Label("Inline Send")
        @DataAmount
        long inlineSend;

        @Label("Inline Receive")
        @DataAmount
        long inlineReceive;

        @Label("Peer's Send Size")
        @DataAmount
        long peerSend;

        @Label("Peer's Receive Size")
        @DataAmount
        long peerReceive;

        @Label("Credits")
        int credits;

        @Label("Remote Invalidation")
        boolean remoteInvalidation;

        @Label("Details")
        @Nullable
        String details;
    }

    @Name("rpcrdma.Disconnect")
    @Label("Disconnect")
    @Description("A connection ends")
    static final class Disconnect extends TransportEvent {
        static final Disconnect PROBE = new Disconnect();

        @Label("Cause")
        @Nullable
        String cause;

        @Label("Detail")
        @Nullable
        String detail;
    }

    @Name("rpcrdma.ReconnectScheduled")
    @Label("Reconnect Scheduled")
    @Description("A reconnect waits for its time")
    static final class ReconnectScheduled extends TransportEvent {
        static final ReconnectScheduled PROBE = new ReconnectScheduled();

        @Label("Delay")
        @Timespan(Timespan.NANOSECONDS)
        long delay;

        @Label("Attempt")
        int attempt;
    }

    @Name("rpcrdma.AcceptFailed")
    @Label("Accept Failed")
    @Description("A request for a connection did not lead to one")
    static final class AcceptFailed extends TransportEvent {
        static final AcceptFailed PROBE = new AcceptFailed();

        @Label("Stage")
        @Nullable
        String stage;

        @Label("Detail")
        @Nullable
        String detail;
    }

    @Name("rpcrdma.Backchannel")
    @Label("Backchannel")
    @Description("A message of the reverse direction")
    static final class Backchannel extends TransportEvent {
        static final Backchannel PROBE = new Backchannel();

        @Label("Kind")
        @Nullable
        String kind;

        @Label("XID")
        @MemoryAddress
        long xid;
    }
}
