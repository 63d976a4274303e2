// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** What became of MNT (mountstat3; RFC 1813, Section 5.1.5). */
public enum MountStatus implements XdrValue {
    /** MNT3_OK. */
    OK(Status.OK),
    /** MNT3ERR_PERM. */
    PERM(Status.PERM),
    /** MNT3ERR_NOENT. */
    NOENT(Status.NOENT),
    /** MNT3ERR_IO. */
    IO(Status.IO),
    /** MNT3ERR_ACCES. */
    ACCES(Status.ACCES),
    /** MNT3ERR_NOTDIR. */
    NOTDIR(Status.NOTDIR),
    /** MNT3ERR_INVAL. */
    INVAL(Status.INVAL),
    /** MNT3ERR_NAMETOOLONG. */
    NAMETOOLONG(Status.NAMETOOLONG),
    /** MNT3ERR_NOTSUPP. */
    NOTSUPP(Status.NOTSUPP),
    /** MNT3ERR_SERVERFAULT. */
    SERVERFAULT(Status.SERVERFAULT);

    private static final Map<Integer, MountStatus> BY_VALUE =
            Stream.of(values()).collect(Collectors.toUnmodifiableMap(MountStatus::value, Function.identity()));

    private final Status status;

    MountStatus(Status status) {
        this.status = status;
    }

    /** The number on the wire; the same as that of {@link #status}. */
    public int value() {
        return status.value();
    }

    /** What NFS calls it. */
    public Status status() {
        return status;
    }

    /** Reads one; a value that isn't declared is refused. */
    public static MountStatus read(XdrReader in) throws XdrException {
        int value = in.readInt();
        MountStatus status = BY_VALUE.get(value);
        if (status == null) {
            throw in.bad("mount status", value);
        }
        return status;
    }

    @Override
    public void write(XdrWriter out) {
        out.writeInt(value());
    }
}
