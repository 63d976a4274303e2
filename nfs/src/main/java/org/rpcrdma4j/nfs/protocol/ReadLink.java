// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** READLINK: read from a symbolic link (RFC 1813, Section 3.3.5). */
public final class ReadLink {

    private ReadLink() {}

    /** The symbolic link. */
    public record Arguments(FileHandle link) implements XdrValue {

        /** Reads them. */
        public static Arguments read(XdrReader in) throws XdrException {
            return new Arguments(FileHandle.read(in));
        }

        @Override
        public void write(XdrWriter out) {
            link.write(out);
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
     * What the link says.
     *
     * @param attributes attributes after the operation; null if not known
     * @param target what the link says; an eligible item (RFC 8267, Section 4), but read only from the message
     */
    public record Ok(@Nullable Attributes attributes, PathBytes target) implements Results {

        static Ok read(XdrReader in) throws XdrException {
            return new Ok(Attributes.readOptional(in), PathBytes.read(in));
        }

        @Override
        public Status status() {
            return Status.OK;
        }

        @Override
        public void write(XdrWriter out) {
            Status.OK.write(out);
            Attributes.writeOptional(out, attributes);
            target.writeItem(out);
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
