// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** GETATTR: get file attributes (RFC 1813, Section 3.3.1). */
public final class GetAttr {

    private GetAttr() {}

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

    /** The attributes. */
    public record Ok(Attributes attributes) implements Results {

        static Ok read(XdrReader in) throws XdrException {
            return new Ok(Attributes.read(in));
        }

        @Override
        public Status status() {
            return Status.OK;
        }

        @Override
        public void write(XdrWriter out) {
            Status.OK.write(out);
            attributes.write(out);
        }
    }

    /**
     * It failed.
     *
     * @param status why
     */
    public record Failed(Status status) implements Results {

        /** Checks that the status is a failure. */
        public Failed {
            status.requireFailure();
        }

        static Failed read(Status status, XdrReader in) throws XdrException {
            return new Failed(status);
        }

        @Override
        public void write(XdrWriter out) {
            status.write(out);
        }
    }
}
