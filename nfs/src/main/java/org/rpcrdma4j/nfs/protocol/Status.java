// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** What became of a call (nfsstat3; RFC 1813, Section 2.6). */
public enum Status implements XdrValue {
    /** NFS3_OK. */
    OK(0, "done"),
    /** NFS3ERR_PERM: the caller is not the owner, or not privileged. */
    PERM(1, "operation not permitted"),
    /** NFS3ERR_NOENT. */
    NOENT(2, "no such file or directory"),
    /** NFS3ERR_IO. */
    IO(5, "input/output error at the server"),
    /** NFS3ERR_NXIO. */
    NXIO(6, "no such device"),
    /** NFS3ERR_ACCES. */
    ACCES(13, "permission denied"),
    /** NFS3ERR_EXIST. */
    EXIST(17, "file exists"),
    /** NFS3ERR_XDEV. */
    XDEV(18, "not on the same file system"),
    /** NFS3ERR_NODEV. */
    NODEV(19, "no such device"),
    /** NFS3ERR_NOTDIR. */
    NOTDIR(20, "not a directory"),
    /** NFS3ERR_ISDIR. */
    ISDIR(21, "is a directory"),
    /** NFS3ERR_INVAL. */
    INVAL(22, "invalid argument"),
    /** NFS3ERR_FBIG. */
    FBIG(27, "file too large"),
    /** NFS3ERR_NOSPC. */
    NOSPC(28, "no space left at the server"),
    /** NFS3ERR_ROFS. */
    ROFS(30, "read-only file system"),
    /** NFS3ERR_MLINK. */
    MLINK(31, "too many hard links"),
    /** NFS3ERR_NAMETOOLONG. */
    NAMETOOLONG(63, "name too long"),
    /** NFS3ERR_NOTEMPTY. */
    NOTEMPTY(66, "directory not empty"),
    /** NFS3ERR_DQUOT. */
    DQUOT(69, "quota exceeded"),
    /** NFS3ERR_STALE: the file handle means no file any more. */
    STALE(70, "stale file handle"),
    /** NFS3ERR_REMOTE. */
    REMOTE(71, "too many levels of remote in path"),
    /** NFS3ERR_BADHANDLE: the server never gave out such a file handle. */
    BADHANDLE(10001, "bad file handle"),
    /** NFS3ERR_NOT_SYNC: the guard of SETATTR did not match. */
    NOT_SYNC(10002, "changed by somebody else meanwhile"),
    /** NFS3ERR_BAD_COOKIE. */
    BAD_COOKIE(10003, "bad directory cookie"),
    /** NFS3ERR_NOTSUPP. */
    NOTSUPP(10004, "not supported by the server"),
    /** NFS3ERR_TOOSMALL. */
    TOOSMALL(10005, "buffer or request too small"),
    /** NFS3ERR_SERVERFAULT. */
    SERVERFAULT(10006, "server fault"),
    /** NFS3ERR_BADTYPE. */
    BADTYPE(10007, "type not supported by the server"),
    /** NFS3ERR_JUKEBOX: not now; the call is to be sent again later. */
    JUKEBOX(10008, "not available at the moment");

    private static final Map<Integer, Status> BY_VALUE =
            Stream.of(values()).collect(Collectors.toUnmodifiableMap(Status::value, Function.identity()));

    private final int value;
    private final String text;

    Status(int value, String text) {
        this.value = value;
        this.text = text;
    }

    /** The number on the wire. */
    public int value() {
        return value;
    }

    /** What it says to people. */
    public String text() {
        return text;
    }

    /** Its name in the RFC. */
    public String protocolName() {
        return this == OK ? "NFS3_OK" : "NFS3ERR_" + name();
    }

    /** Reads one; a value that isn't declared is refused. */
    public static Status read(XdrReader in) throws XdrException {
        int value = in.readInt();
        Status status = BY_VALUE.get(value);
        if (status == null) {
            throw in.bad("status", value);
        }
        return status;
    }

    @Override
    public void write(XdrWriter out) {
        out.writeInt(value);
    }

    /** Returns the status, which must not be {@link #OK}. */
    Status requireFailure() {
        if (this == OK) {
            throw new IllegalArgumentException("a failure with status OK");
        }
        return this;
    }
}
