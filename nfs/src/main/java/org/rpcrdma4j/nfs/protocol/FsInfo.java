// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** FSINFO: get static file system information (RFC 1813, Section 3.3.19). */
public final class FsInfo {

    private FsInfo() {}

    /** Property: hard links are supported. */
    public static final int LINK = 0x01;

    /** Property: symbolic links are supported. */
    public static final int SYMLINK = 0x02;

    /** Property: PATHCONF is the same for all files of the file system. */
    public static final int HOMOGENEOUS = 0x08;

    /** Property: SETATTR can set times. */
    public static final int CAN_SET_TIME = 0x10;

    /** The root of the file system. */
    public record Arguments(FileHandle root) implements XdrValue {

        /** Reads them. */
        public static Arguments read(XdrReader in) throws XdrException {
            return new Arguments(FileHandle.read(in));
        }

        @Override
        public void write(XdrWriter out) {
            root.write(out);
        }
    }

    /** What came of it. */
    public sealed interface Results extends NfsResults {

        /** Reads them; nothing may follow, which the caller checks. */
        static Results read(XdrReader in) throws XdrException {
            Status status = Status.read(in);
            return status == Status.OK ? Ok.read(in) : Failed.read(status, in);
        }
    }

    /**
     * What the server can do.
     *
     * @param attributes attributes after the operation; null if not known
     * @param readMax most bytes of one READ
     * @param readPreferred best size of a READ
     * @param readMultiple good multiple of a READ's size
     * @param writeMax most bytes of one WRITE
     * @param writePreferred best size of a WRITE
     * @param writeMultiple good multiple of a WRITE's size
     * @param directoryPreferred best size of a READDIR
     * @param maxFileBytes longest file, unsigned
     * @param timeDelta granularity of times
     * @param properties bits
     */
    public record Ok(
            @Nullable Attributes attributes,
            long readMax,
            long readPreferred,
            long readMultiple,
            long writeMax,
            long writePreferred,
            long writeMultiple,
            long directoryPreferred,
            long maxFileBytes,
            Time timeDelta,
            int properties)
            implements Results {

        static Ok read(XdrReader in) throws XdrException {
            return new Ok(
                    Attributes.readOptional(in),
                    in.readUnsignedInt(),
                    in.readUnsignedInt(),
                    in.readUnsignedInt(),
                    in.readUnsignedInt(),
                    in.readUnsignedInt(),
                    in.readUnsignedInt(),
                    in.readUnsignedInt(),
                    in.readHyper(),
                    Time.read(in),
                    in.readInt());
        }

        @Override
        public Status status() {
            return Status.OK;
        }

        @Override
        public void write(XdrWriter out) {
            Status.OK.write(out);
            Attributes.writeOptional(out, attributes);
            out.writeUnsignedInt(readMax);
            out.writeUnsignedInt(readPreferred);
            out.writeUnsignedInt(readMultiple);
            out.writeUnsignedInt(writeMax);
            out.writeUnsignedInt(writePreferred);
            out.writeUnsignedInt(writeMultiple);
            out.writeUnsignedInt(directoryPreferred);
            out.writeHyper(maxFileBytes);
            timeDelta.write(out);
            out.writeInt(properties);
        }
    }

    /**
     * It failed.
     *
     * @param status why
     * @param attributes attributes after the operation; null if not known
     */
    public record Failed(Status status, @Nullable Attributes attributes) implements Results {

        /** Checks that the status is a failure. */
        public Failed {
            status.requireFailure();
        }

        static Failed read(Status status, XdrReader in) throws XdrException {
            return new Failed(status, Attributes.readOptional(in));
        }

        @Override
        public void write(XdrWriter out) {
            status.write(out);
            Attributes.writeOptional(out, attributes);
        }
    }
}
