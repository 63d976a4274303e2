// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

/** What one step of a {@link SimulatedNetwork} does. */
public enum ActionKind {
    /** The next piece of a queue pair's oldest unfinished send queue request, or its orderly end. */
    EXECUTE,
    /** The next packet that has reached a queue pair is placed. */
    DELIVER,
    /** The next piece of an answer to an RDMA Read of the peer. */
    RESPOND,
    /** The oldest send queue request, which is done, gets its completion. */
    COMPLETE_SEND,
    /** The oldest Receive, which is done, gets its completion. */
    COMPLETE_RECEIVE,
    /** A completion queue's handler is called. */
    NOTIFY,
    /** A connection's listener is told. */
    CONNECTION_EVENT,
    /** A step of connecting. */
    CONNECT,
    /** A drain ends. */
    DRAINED
}
