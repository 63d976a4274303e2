// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.device;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.iwarp.mpa.Fpdu;
import org.rpcrdma4j.iwarp.mpa.MpaOutcome;
import org.rpcrdma4j.iwarp.mpa.Rtr;
import org.rpcrdma4j.iwarp.net.Connection;
import org.rpcrdma4j.iwarp.net.ConnectionReport;
import org.rpcrdma4j.iwarp.net.ConnectionTimes;
import org.rpcrdma4j.iwarp.net.EstablishedStream;
import org.rpcrdma4j.iwarp.net.EventLoop;
import org.rpcrdma4j.iwarp.net.Registration;
import org.rpcrdma4j.iwarp.net.SetUpListener;
import org.rpcrdma4j.iwarp.rdmap.Opcode;
import org.rpcrdma4j.iwarp.rdmap.TerminateMessage;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;
import org.rpcrdma4j.verbs.cm.ConnectionInfo;
import org.rpcrdma4j.verbs.cm.ConnectionListener;
import org.rpcrdma4j.verbs.cm.Disconnect;
import org.rpcrdma4j.verbs.cm.ErrorReport;
import org.rpcrdma4j.verbs.cm.Octets;

/**
 * Takes a stream from its set-up to its queue pair: makes the connection, tells the program, starts it on the queue pair's loop; and
 * later tells the program of the end.
 */
final class StreamHandOver implements SetUpListener, Connection.Owner {
    private static final int ETHERNET_MTU = 1500;

    private final SoftQueuePair queuePair;
    private final boolean initiator;
    private final Telling telling;

    StreamHandOver(SoftQueuePair queuePair, boolean initiator, ConnectionListener listener) {
        this.queuePair = queuePair;
        this.initiator = initiator;
        this.telling = new Telling(listener, queuePair.device().events());
    }

    @Override
    public void onRefused(ConnectRefusal refusal) {
        queuePair.fail();
        telling.refused(refusal);
    }

    /** The queue pair is closed: what has still to be told is told now, and nothing afterwards. */
    void tellNow() {
        telling.finish();
    }

    @Override
    public void onEstablished(EstablishedStream stream) {
        EventLoop loop = queuePair.loop();
        if (stream.loop() == loop) {
            establish(stream, stream.registration());
            return;
        }
        // ORDER: off the one loop before on the other, so that one thread at a time serves the socket.
        stream.registration().cancel();
        if (!loop.task(() -> establish(stream, null)).schedule()) {
            close(stream);
            onRefused(new ConnectRefusal(ConnectRefusal.Reason.LOCAL, "the device is closed"));
        }
    }

    private void establish(EstablishedStream stream, @Nullable Registration registered) {
        try {
            Registration registration =
                    registered == null ? queuePair.loop().register(stream.channel(), 0, readyOps -> {}) : registered;
            begin(stream, registration);
        } catch (IOException | RuntimeException | OutOfMemoryError e) {
            close(stream);
            onRefused(new ConnectRefusal(ConnectRefusal.Reason.LOCAL, "no means for the connection: " + e));
        }
    }

    private void begin(EstablishedStream stream, Registration registration) throws IOException {
        InetSocketAddress local = (InetSocketAddress) stream.channel().getLocalAddress();
        InetSocketAddress remote = (InetSocketAddress) stream.channel().getRemoteAddress();
        int maxUlpdu = maxUlpdu(local.getAddress());
        MpaOutcome.Established mpa = stream.mpa();
        SoftIwarpDevice device = queuePair.device();
        Connection connection = new Connection(
                stream,
                queuePair.loop(),
                queuePair.context(),
                device.copyBuffers(),
                maxUlpdu,
                ConnectionTimes.DEFAULT.withKickMillis(device.settings().kickMillis()),
                new ConnectionReport(
                        "QP " + queuePair.number() + " to " + remote, initiator, device.events(), device.wireLog()),
                this);
        if (!queuePair.connected(connection, slots(mpa), mpa.ord())) {
            close(stream);
            telling.refused(new ConnectRefusal(ConnectRefusal.Reason.LOCAL, "the queue pair was aborted"));
            return;
        }
        telling.established(new ConnectionInfo(
                local,
                remote,
                Octets.of(mpa.privateData()),
                mpa.ird(),
                mpa.ord(),
                Math.max(0, mpa.peerIrd()),
                Math.max(0, mpa.peerOrd()),
                "MPA revision " + mpa.revision() + ", CRC " + (mpa.crc() ? "on" : "off") + ", ULPDU up to "
                        + maxUlpdu));
        connection.start(registration, stream.leftover(), rtr(mpa));
    }

    /** Linux siw rounds its ORD up to a power of two and may have as many Reads open; so many slots are kept. */
    private static int slots(MpaOutcome.Established mpa) {
        // RFC 6581, Section 9.1: a Read as RTR takes a slot, also where no other Read was agreed.
        int agreed = Math.max(mpa.ird(), mpa.rtr() == Rtr.READ ? 1 : 0);
        return agreed == 0 ? 0 : Integer.highestOneBit(2 * agreed - 1);
    }

    private @Nullable Opcode rtr(MpaOutcome.Established mpa) {
        if (!initiator || mpa.rtr() == null) {
            return null;
        }
        return mpa.rtr() == Rtr.READ ? Opcode.READ_REQUEST : Opcode.WRITE;
    }

    private int maxUlpdu(InetAddress local) throws IOException {
        if (queuePair.device().settings().fpduSizing() == IwarpSettings.FpduSizing.SOFTWARE) {
            return Fpdu.MAX_SENT_ULPDU;
        }
        NetworkInterface at = NetworkInterface.getByInetAddress(local);
        int mtu = at == null ? ETHERNET_MTU : at.getMTU();
        return Fpdu.mulpdu(Fpdu.emss(mtu, local instanceof Inet6Address));
    }

    private static void close(EstablishedStream stream) {
        try {
            stream.channel().close();
        } catch (IOException e) {
            SoftIwarpDevice.LOG.log(System.Logger.Level.DEBUG, "close of an unwanted stream", e);
        }
    }

    @Override
    public void onEnding() {
        queuePair.ending();
    }

    @Override
    public void onStopped() {
        queuePair.flush();
    }

    @Override
    public void onEnded(Connection.Ending ending) {
        TerminateMessage message = ending.terminate();
        telling.disconnected(
                new Disconnect(ending.cause(), ending.detail(), message == null ? null : reportOf(message)));
    }

    private static ErrorReport reportOf(TerminateMessage message) {
        byte[] header = message.ddpHeader();
        byte[] request = message.readRequestHeader();
        return new ErrorReport(
                message.layer(),
                message.errorType(),
                message.errorCode(),
                message.toString(),
                Math.max(0, message.ddpSegmentLength()),
                header == null ? Octets.EMPTY : Octets.of(header),
                request == null ? Octets.EMPTY : Octets.of(request));
    }
}
