// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/**
 * Attributes to be set (sattr3; RFC 1813, Section 2.6).
 *
 * @param mode permission bits; null to leave them
 * @param uid owner, unsigned; null to leave it
 * @param gid group, unsigned; null to leave it
 * @param size in bytes, unsigned; null to leave it
 * @param accessTime what becomes of the time of the last access
 * @param modifyTime what becomes of the time of the last modification
 */
public record SetAttributes(
        @Nullable Integer mode,
        @Nullable Integer uid,
        @Nullable Integer gid,
        @Nullable Long size,
        SetTime accessTime,
        SetTime modifyTime)
        implements XdrValue {

    /** Sets nothing. */
    public static final SetAttributes NONE =
            new SetAttributes(null, null, null, null, SetTime.Keep.INSTANCE, SetTime.Keep.INSTANCE);

    /** These, and the permission bits. */
    public SetAttributes withMode(int newMode) {
        return new SetAttributes(newMode, uid, gid, size, accessTime, modifyTime);
    }

    /** These, and the owner. */
    public SetAttributes withUid(int newUid) {
        return new SetAttributes(mode, newUid, gid, size, accessTime, modifyTime);
    }

    /** These, and the group. */
    public SetAttributes withGid(int newGid) {
        return new SetAttributes(mode, uid, newGid, size, accessTime, modifyTime);
    }

    /** These, and the size. */
    public SetAttributes withSize(long newSize) {
        return new SetAttributes(mode, uid, gid, newSize, accessTime, modifyTime);
    }

    /** These, and the times. */
    public SetAttributes withTimes(SetTime newAccessTime, SetTime newModifyTime) {
        return new SetAttributes(mode, uid, gid, size, newAccessTime, newModifyTime);
    }

    /** Reads them. */
    public static SetAttributes read(XdrReader in) throws XdrException {
        Integer mode = readOptionalInt(in);
        Integer uid = readOptionalInt(in);
        Integer gid = readOptionalInt(in);
        Long size = in.readBool() ? Long.valueOf(in.readHyper()) : null;
        return new SetAttributes(mode, uid, gid, size, SetTime.read(in), SetTime.read(in));
    }

    private static @Nullable Integer readOptionalInt(XdrReader in) throws XdrException {
        return in.readBool() ? Integer.valueOf(in.readInt()) : null;
    }

    @Override
    public void write(XdrWriter out) {
        writeOptional(out, mode);
        writeOptional(out, uid);
        writeOptional(out, gid);
        Long newSize = size;
        out.writeBool(newSize != null);
        if (newSize != null) {
            out.writeHyper(newSize);
        }
        accessTime.write(out);
        modifyTime.write(out);
    }

    private static void writeOptional(XdrWriter out, @Nullable Integer value) {
        out.writeBool(value != null);
        if (value != null) {
            out.writeInt(value);
        }
    }
}
