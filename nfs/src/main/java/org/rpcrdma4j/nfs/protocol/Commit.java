// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** COMMIT: bring written data to stable storage (RFC 1813, Section 3.3.21). */
public final class Commit {

    private Commit() {}

    /**
     * Which data.
     *
     * @param file the file
     * @param offset first byte, unsigned
     * @param count number of bytes; 0 for all to the end
     */
    public record Arguments(FileHandle file, long offset, long count) implements XdrValue {

        /** Reads them. */
        public static Arguments read(XdrReader in) throws XdrException {
            return new Arguments(FileHandle.read(in), in.readHyper(), in.readUnsignedInt());
        }

        @Override
        public void write(XdrWriter out) {
            file.write(out);
            out.writeHyper(offset);
            out.writeUnsignedInt(count);
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
     * What was written under this verifier is on stable storage.
     *
     * @param change attributes of the file before and after; as far as known
     * @param verifier the same as those of the WRITEs, or their data may be lost
     */
    public record Ok(WeakCacheData change, WriteVerifier verifier) implements Results {

        static Ok read(XdrReader in) throws XdrException {
            return new Ok(WeakCacheData.read(in), WriteVerifier.read(in));
        }

        @Override
        public Status status() {
            return Status.OK;
        }

        @Override
        public void write(XdrWriter out) {
            Status.OK.write(out);
            change.write(out);
            verifier.write(out);
        }
    }

    /**
     * It failed.
     *
     * @param status why
     * @param change attributes of the file before and after; as far as known
     */
    public record Failed(Status status, WeakCacheData change) implements Results {

        /** Checks that the status is a failure. */
        public Failed {
            status.requireFailure();
        }

        static Failed read(Status status, XdrReader in) throws XdrException {
            return new Failed(status, WeakCacheData.read(in));
        }

        @Override
        public void write(XdrWriter out) {
            status.write(out);
            change.write(out);
        }
    }
}
