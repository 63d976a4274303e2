// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** PATHCONF: retrieve POSIX information (RFC 1813, Section 3.3.20). */
public final class PathConf {

    private PathConf() {}

    /** The file. */
    public record Arguments(FileHandle file) implements XdrValue {

        /** Reads them. */
        public static Arguments read(XdrReader in) throws XdrException {
            return new Arguments(FileHandle.read(in));
        }

        @Override
        public void write(XdrWriter out) {
            file.write(out);
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
     * What holds for the file.
     *
     * @param attributes attributes after the operation; null if not known
     * @param maxLinks most hard links
     * @param maxNameBytes longest name
     * @param noTruncation longer names are refused, not cut
     * @param changeOwnerRestricted only the privileged may give files away
     * @param caseInsensitive names differ by more than case
     * @param casePreserving the case of names is kept
     */
    public record Ok(
            @Nullable Attributes attributes,
            long maxLinks,
            long maxNameBytes,
            boolean noTruncation,
            boolean changeOwnerRestricted,
            boolean caseInsensitive,
            boolean casePreserving)
            implements Results {

        static Ok read(XdrReader in) throws XdrException {
            return new Ok(
                    Attributes.readOptional(in),
                    in.readUnsignedInt(),
                    in.readUnsignedInt(),
                    in.readBool(),
                    in.readBool(),
                    in.readBool(),
                    in.readBool());
        }

        @Override
        public Status status() {
            return Status.OK;
        }

        @Override
        public void write(XdrWriter out) {
            Status.OK.write(out);
            Attributes.writeOptional(out, attributes);
            out.writeUnsignedInt(maxLinks);
            out.writeUnsignedInt(maxNameBytes);
            out.writeBool(noTruncation);
            out.writeBool(changeOwnerRestricted);
            out.writeBool(caseInsensitive);
            out.writeBool(casePreserving);
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
