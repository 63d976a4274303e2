// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/**
 * A file's attributes (fattr3; RFC 1813, Section 2.6).
 *
 * @param type what it is
 * @param mode permission bits, with set-user-ID 0x800, set-group-ID 0x400 and sticky 0x200
 * @param links number of hard links
 * @param uid owner, unsigned
 * @param gid group, unsigned
 * @param size in bytes, unsigned
 * @param used bytes on the disk, unsigned
 * @param deviceMajor of a device (specdata1), unsigned
 * @param deviceMinor of a device (specdata2), unsigned
 * @param fileSystem the file system's identifier
 * @param fileId the file's number, unique in its file system
 * @param accessTime of the last access
 * @param modifyTime of the last modification of the contents
 * @param changeTime of the last change of the attributes
 */
public record Attributes(
        FileType type,
        int mode,
        int links,
        int uid,
        int gid,
        long size,
        long used,
        int deviceMajor,
        int deviceMinor,
        long fileSystem,
        long fileId,
        Time accessTime,
        Time modifyTime,
        Time changeTime)
        implements XdrValue {

    /** Bytes on the wire. */
    public static final int ENCODED_BYTES = 84;

    /** Whether it is a directory. */
    public boolean isDirectory() {
        return type == FileType.DIRECTORY;
    }

    /** Whether it is a regular file. */
    public boolean isRegular() {
        return type == FileType.REGULAR;
    }

    /** Whether it is a symbolic link. */
    public boolean isSymbolicLink() {
        return type == FileType.SYMBOLIC_LINK;
    }

    /** Reads them. */
    public static Attributes read(XdrReader in) throws XdrException {
        return new Attributes(
                FileType.read(in),
                in.readInt(),
                in.readInt(),
                in.readInt(),
                in.readInt(),
                in.readHyper(),
                in.readHyper(),
                in.readInt(),
                in.readInt(),
                in.readHyper(),
                in.readHyper(),
                Time.read(in),
                Time.read(in),
                Time.read(in));
    }

    @Override
    public void write(XdrWriter out) {
        type.write(out);
        out.writeInt(mode);
        out.writeInt(links);
        out.writeInt(uid);
        out.writeInt(gid);
        out.writeHyper(size);
        out.writeHyper(used);
        out.writeInt(deviceMajor);
        out.writeInt(deviceMinor);
        out.writeHyper(fileSystem);
        out.writeHyper(fileId);
        accessTime.write(out);
        modifyTime.write(out);
        changeTime.write(out);
    }

    /** RFC 1813, Section 2.6: post_op_attr. */
    public static @Nullable Attributes readOptional(XdrReader in) throws XdrException {
        return in.readBool() ? read(in) : null;
    }

    /** RFC 1813, Section 2.6: post_op_attr. */
    public static void writeOptional(XdrWriter out, @Nullable Attributes attributes) {
        out.writeBool(attributes != null);
        if (attributes != null) {
            attributes.write(out);
        }
    }
}
