// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs;

import java.util.Objects;

/**
 * The outcome of one work request: data, never an exception. A carrier that {@link CompletionQueue#poll} fills; its owner uses it
 * again.
 *
 * <p>If the status is not {@link Status#SUCCESS}, only {@link #id}, {@link #status} and {@link #queuePairNumber} mean anything.
 *
 * <p>libibverbs: {@code struct ibv_wc}.
 */
public final class WorkCompletion {

    /** How it ended. The names are those of {@code enum ibv_wc_status}. */
    public enum Status {
        /** Done. */
        SUCCESS("success"),
        /** The message was longer than the Receive, or a Read Response did not fit its request. */
        LOCAL_LENGTH_ERROR("local length error"),
        /** The request could not be executed in this state, for example a registration of a valid region. */
        LOCAL_QP_OPERATION_ERROR("local queue pair operation error"),
        /** Local memory that the request names is not registered for it. */
        LOCAL_PROTECTION_ERROR("local protection error"),
        /** Not executed, or not known to be: the queue pair went to ERROR first. */
        FLUSHED("work request flushed"),
        /** The peer asked for something that is not allowed, for example to invalidate a region that is not its own. */
        REMOTE_INVALID_REQUEST_ERROR("remote invalid request error"),
        /** The peer refused access to its memory. */
        REMOTE_ACCESS_ERROR("remote access error"),
        /** The peer could not do it. */
        REMOTE_OPERATION_ERROR("remote operation error"),
        /** Anything else. */
        GENERAL_ERROR("general error");

        private final String description;

        Status(String description) {
            this.description = description;
        }

        /** In words, as {@code ibv_wc_status_str}. */
        public String description() {
            return description;
        }
    }

    /** What was asked for. */
    public enum Operation {
        SEND,
        RDMA_WRITE,
        RDMA_READ,
        REGISTER,
        LOCAL_INVALIDATE,
        RECEIVE
    }

    private long id;
    private Status status = Status.GENERAL_ERROR;
    private Operation operation = Operation.SEND;
    private int queuePairNumber;
    private long byteLength;
    private boolean withInvalidate;
    private int invalidatedKey;

    /** An empty carrier. */
    public WorkCompletion() {}

    /** The number given in the work request. */
    public long id() {
        return id;
    }

    /** How it ended. */
    public Status status() {
        return status;
    }

    /** Whether it succeeded. */
    public boolean isSuccess() {
        return status == Status.SUCCESS;
    }

    /** What was asked for. */
    public Operation operation() {
        return operation;
    }

    /** Which queue pair. */
    public int queuePairNumber() {
        return queuePairNumber;
    }

    /** Bytes received or read. */
    public long byteLength() {
        return byteLength;
    }

    /** For a Receive: whether the message invalidated a region of ours. */
    public boolean isWithInvalidate() {
        return withInvalidate;
    }

    /** For a Receive: the key that was invalidated. */
    public int invalidatedKey() {
        return invalidatedKey;
    }

    /** For devices: fills all fields, without an invalidated key. */
    public void set(long newId, Status newStatus, Operation newOperation, int qpNumber, long newByteLength) {
        id = newId;
        status = Objects.requireNonNull(newStatus);
        operation = Objects.requireNonNull(newOperation);
        queuePairNumber = qpNumber;
        byteLength = newByteLength;
        withInvalidate = false;
        invalidatedKey = 0;
    }

    /** For devices: adds the invalidated key. */
    public void setInvalidated(int key) {
        withInvalidate = true;
        invalidatedKey = key;
    }

    @Override
    public String toString() {
        return operation + " id " + id + " on QP " + queuePairNumber + ": " + status.description()
                + (status == Status.SUCCESS ? ", " + byteLength + " bytes" : "")
                + (withInvalidate ? ", invalidated 0x" + Integer.toHexString(invalidatedKey) : "");
    }
}
