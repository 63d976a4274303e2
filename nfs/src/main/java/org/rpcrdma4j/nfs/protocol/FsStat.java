// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** FSSTAT: get dynamic file system information (RFC 1813, Section 3.3.18). */
public final class FsStat {

    private FsStat() {}

    /** Any file of the file system. */
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
     * How full the file system is.
     *
     * @param attributes attributes after the operation; null if not known
     * @param totalBytes size in bytes; all numbers unsigned
     * @param freeBytes bytes that are free
     * @param availableBytes bytes that are free for the caller
     * @param totalFiles how many files there can be
     * @param freeFiles how many more there can be
     * @param availableFiles how many more the caller can have
     * @param invariantSeconds how long this is expected to hold
     */
    public record Ok(
            @Nullable Attributes attributes,
            long totalBytes,
            long freeBytes,
            long availableBytes,
            long totalFiles,
            long freeFiles,
            long availableFiles,
            int invariantSeconds)
            implements Results {

        static Ok read(XdrReader in) throws XdrException {
            return new Ok(
                    Attributes.readOptional(in),
                    in.readHyper(),
                    in.readHyper(),
                    in.readHyper(),
                    in.readHyper(),
                    in.readHyper(),
                    in.readHyper(),
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
            out.writeHyper(totalBytes);
            out.writeHyper(freeBytes);
            out.writeHyper(availableBytes);
            out.writeHyper(totalFiles);
            out.writeHyper(freeFiles);
            out.writeHyper(availableFiles);
            out.writeInt(invariantSeconds);
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
