// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import java.io.IOException;
import java.io.Serial;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.Optional;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;

/**
 * A server could not be reached; a cause of {@link TransportException}. The message is one short sentence for people; what was found out
 * in detail is in {@link #detail}, and in the message of the exception that this is the cause of.
 */
public final class ConnectFailedException extends IOException {

    @Serial
    private static final long serialVersionUID = 1L;

    /** How far causes are followed. */
    private static final int MAX_DEPTH = 16;

    private final String detail;

    private ConnectFailedException(InetSocketAddress address, String reason, String detail) {
        super("cannot reach " + text(address) + ": " + reason);
        this.detail = detail;
    }

    /** An attempt of an RDMA device. */
    public static ConnectFailedException of(InetSocketAddress address, ConnectRefusal refusal) {
        String reason = switch (refusal.reason()) {
            case REJECTED -> "the server rejects the connection";
            case UNREACHABLE -> address.isUnresolved() ? "unknown host" : last(refusal.detail());
            case TIMED_OUT -> "no answer in time";
            case CLOSED_BY_PEER -> "the server ends the connection; it may not speak RDMA";
            case PROTOCOL_ERROR -> "what answers there does not speak RDMA as it should";
            case LOCAL -> last(refusal.detail());
        };
        return new ConnectFailedException(address, reason, refusal.reason() + ": " + refusal.detail());
    }

    /** An attempt over TCP. */
    public static ConnectFailedException of(InetSocketAddress address, IOException cause) {
        String reason = switch (cause) {
            case SocketTimeoutException _ -> "no answer in time";
            case UnknownHostException _ -> "unknown host";
            default -> last(cause.toString());
        };
        ConnectFailedException failure = new ConnectFailedException(address, reason, cause.toString());
        failure.initCause(cause);
        return failure;
    }

    /** The first such exception among a failure's causes, or the failure itself. */
    public static Optional<ConnectFailedException> in(Throwable failure) {
        Throwable cause = failure;
        for (int depth = 0; cause != null && depth < MAX_DEPTH; depth++) {
            if (cause instanceof ConnectFailedException found) {
                return Optional.of(found);
            }
            cause = cause.getCause();
        }
        return Optional.empty();
    }

    /** All that is known of why. */
    public String detail() {
        return detail;
    }

    private static String text(InetSocketAddress address) {
        String host = address.getHostString();
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + address.getPort();
    }

    /** What stands behind the names of the exceptions that passed it on. */
    private static String last(String text) {
        String reason = text.substring(text.lastIndexOf(": ") < 0 ? 0 : text.lastIndexOf(": ") + 2);
        if (reason.isEmpty()) {
            return text;
        }
        return reason.substring(0, 1).toLowerCase(Locale.ROOT) + reason.substring(1);
    }
}
