// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** ACCESS: check access permission (RFC 1813, Section 3.3.4). */
public final class Access {

    private Access() {}

    /** Read data, or a directory. */
    public static final int READ = 0x01;

    /** Look up a name in a directory. */
    public static final int LOOKUP = 0x02;

    /** Rewrite data, or change entries of a directory. */
    public static final int MODIFY = 0x04;

    /** Write new data, or add entries to a directory. */
    public static final int EXTEND = 0x08;

    /** Delete an entry of a directory. */
    public static final int DELETE = 0x10;

    /** Execute a file. */
    public static final int EXECUTE = 0x20;

    /**
     * Which of the accesses would be permitted.
     *
     * @param file the file
     * @param access bits
     */
    public record Arguments(FileHandle file, int access) implements XdrValue {

        /** Reads them. */
        public static Arguments read(XdrReader in) throws XdrException {
            return new Arguments(FileHandle.read(in), in.readInt());
        }

        @Override
        public void write(XdrWriter out) {
            file.write(out);
            out.writeInt(access);
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
     * What is permitted; not binding.
     *
     * @param attributes attributes after the operation; null if not known
     * @param access bits of what is permitted
     */
    public record Ok(@Nullable Attributes attributes, int access) implements Results {

        static Ok read(XdrReader in) throws XdrException {
            return new Ok(Attributes.readOptional(in), in.readInt());
        }

        @Override
        public Status status() {
            return Status.OK;
        }

        @Override
        public void write(XdrWriter out) {
            Status.OK.write(out);
            Attributes.writeOptional(out, attributes);
            out.writeInt(access);
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
