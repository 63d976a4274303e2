// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** LOOKUP: look up a name (RFC 1813, Section 3.3.3). */
public final class Lookup {

    private Lookup() {}

    /** What to look up, and where. */
    public record Arguments(FileHandle directory, FileName name) implements XdrValue {

        /** Reads them. */
        public static Arguments read(XdrReader in) throws XdrException {
            return new Arguments(FileHandle.read(in), FileName.read(in));
        }

        @Override
        public void write(XdrWriter out) {
            directory.write(out);
            name.write(out);
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
     * The file was found.
     *
     * @param file the file
     * @param attributes the file's attributes; null if not known
     * @param directoryAttributes the directory's attributes; null if not known
     */
    public record Ok(
            FileHandle file,
            @Nullable Attributes attributes,
            @Nullable Attributes directoryAttributes) implements Results {

        static Ok read(XdrReader in) throws XdrException {
            return new Ok(FileHandle.read(in), Attributes.readOptional(in), Attributes.readOptional(in));
        }

        @Override
        public Status status() {
            return Status.OK;
        }

        @Override
        public void write(XdrWriter out) {
            Status.OK.write(out);
            file.write(out);
            Attributes.writeOptional(out, attributes);
            Attributes.writeOptional(out, directoryAttributes);
        }
    }

    /**
     * It failed.
     *
     * @param status why
     * @param directoryAttributes the directory's attributes; null if not known
     */
    public record Failed(Status status, @Nullable Attributes directoryAttributes) implements Results {

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
            Attributes.writeOptional(out, directoryAttributes);
        }
    }
}
