// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.iwarp.ddp.DdpHeader;

/** The operations of RDMAP with their codes, buffer model and queue (RFC 5040, Section 4.1, figures 3 and 4). */
public enum Opcode {
    WRITE(0, true, -1),
    READ_REQUEST(1, false, DdpHeader.READ_REQUEST_QUEUE),
    READ_RESPONSE(2, true, -1),
    SEND(3, false, DdpHeader.SEND_QUEUE),
    SEND_INVALIDATE(4, false, DdpHeader.SEND_QUEUE),
    SEND_SOLICITED(5, false, DdpHeader.SEND_QUEUE),
    SEND_SOLICITED_INVALIDATE(6, false, DdpHeader.SEND_QUEUE),
    TERMINATE(7, false, DdpHeader.TERMINATE_QUEUE);

    private static final Opcode[] BY_CODE = values();

    private final int code;
    private final boolean tagged;
    private final int queueNumber;

    Opcode(int code, boolean tagged, int queueNumber) {
        this.code = code;
        this.tagged = tagged;
        this.queueNumber = queueNumber;
    }

    /** The operation a control octet names, or null for codes 8 to 15, which this device does not speak. */
    public static @Nullable Opcode fromControl(int control) {
        int code = RdmapControl.opcode(control);
        return code < BY_CODE.length ? BY_CODE[code] : null;
    }

    public int code() {
        return code;
    }

    /** The RDMAP control octet to send with it. */
    public int control() {
        return RdmapControl.of(code);
    }

    public boolean isTagged() {
        return tagged;
    }

    /** The DDP queue of an untagged operation, -1 for a tagged one. */
    public int queueNumber() {
        return queueNumber;
    }

    /** One of the four that use up a Receive. */
    public boolean isSend() {
        return queueNumber == DdpHeader.SEND_QUEUE;
    }

    /** Whether the invalidate STag of the header has a meaning; otherwise it is zero and not checked. */
    public boolean invalidates() {
        return this == SEND_INVALIDATE || this == SEND_SOLICITED_INVALIDATE;
    }

    /** Whether the receiver should raise an event. */
    public boolean solicits() {
        return this == SEND_SOLICITED || this == SEND_SOLICITED_INVALIDATE;
    }
}
