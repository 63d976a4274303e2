// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import org.rpcrdma4j.verbs.cm.ConnectRefusal;

/** What the device counts; the names are those that users see. */
public enum Counter {
    /** Sockets that a listener took from the system. */
    ACCEPTED("accept.sockets"),
    /** Failures to take one, as for want of file descriptors. */
    ACCEPT_ERRORS("accept.errors"),
    /** Sockets closed at once because too many set-ups were open. */
    ACCEPT_TURNED_AWAY("accept.turned_away"),
    /** Complete Requests handed to the program. */
    ACCEPT_REQUESTS("accept.requests"),
    /** Connections set up as responder. */
    ACCEPT_ESTABLISHED("accept.established"),
    /** Requests answered with R=1, whoever decided so. */
    ACCEPT_REJECTED("accept.rejected"),
    /** Of these: because too many others waited for an answer. */
    ACCEPT_BACKLOG_FULL("accept.backlog_full"),
    /** Incoming set-ups that ended without an answer. */
    ACCEPT_FAILED("accept.failed"),
    /** Connections set up as initiator. */
    CONNECT_ESTABLISHED("connect.established"),
    /** Second attempts with revision 1. */
    CONNECT_RETRIED_PLAIN("connect.retried_plain"),
    /** Attempts ended by {@link ConnectRefusal.Reason#REJECTED}. */
    CONNECT_REJECTED("connect.refused.rejected"),
    /** Attempts ended by {@link ConnectRefusal.Reason#UNREACHABLE}. */
    CONNECT_UNREACHABLE("connect.refused.unreachable"),
    /** Attempts ended by {@link ConnectRefusal.Reason#TIMED_OUT}. */
    CONNECT_TIMED_OUT("connect.refused.timed_out"),
    /** Attempts ended by {@link ConnectRefusal.Reason#CLOSED_BY_PEER}. */
    CONNECT_CLOSED_BY_PEER("connect.refused.closed_by_peer"),
    /** Attempts ended by {@link ConnectRefusal.Reason#PROTOCOL_ERROR}. */
    CONNECT_PROTOCOL_ERROR("connect.refused.protocol_error"),
    /** Attempts ended by {@link ConnectRefusal.Reason#LOCAL}. */
    CONNECT_LOCAL("connect.refused.local"),
    /** Deadlines of set-ups that passed, in both roles. */
    SET_UP_TIMEOUTS("setup.timeouts"),
    /** Start-up frames that break the protocol, in both roles. */
    SET_UP_MALFORMED("setup.malformed"),
    /** Streams ended because a rule was broken, by the peer or by a work request of ours. */
    STREAM_VIOLATIONS("stream.violations"),
    /** Of these: Sends for which no Receive was posted. */
    STREAM_NO_RECEIVE("stream.no_receive"),
    /** Segments received without payload; lawful, but a peer that sends many of them costs work for nothing. */
    STREAM_EMPTY_SEGMENTS("stream.empty_segments"),
    /** Of the violations: FPDUs whose CRC was wrong. */
    STREAM_CRC_ERRORS("stream.crc_errors"),
    /** Terminate messages sent. */
    TERMINATES_SENT("stream.terminates_sent"),
    /** Terminate messages received. */
    TERMINATES_RECEIVED("stream.terminates_received"),
    /** Empty Writes sent to wake a silent peer. */
    KICKS("stream.kicks"),
    /** Handlers, timers and tasks that threw. */
    TASK_ERRORS("loop.task_errors"),
    /** Log lines about bad input that were left out. */
    LOG_SUPPRESSED("log.suppressed");

    private final String publicName;

    Counter(String publicName) {
        this.publicName = publicName;
    }

    /** The name in reports. */
    public String publicName() {
        return publicName;
    }

    static Counter ofRefusedConnect(ConnectRefusal.Reason reason) {
        return switch (reason) {
            case REJECTED -> CONNECT_REJECTED;
            case UNREACHABLE -> CONNECT_UNREACHABLE;
            case TIMED_OUT -> CONNECT_TIMED_OUT;
            case CLOSED_BY_PEER -> CONNECT_CLOSED_BY_PEER;
            case PROTOCOL_ERROR -> CONNECT_PROTOCOL_ERROR;
            case LOCAL -> CONNECT_LOCAL;
        };
    }
}
