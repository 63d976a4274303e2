// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** LINK: create a hard link (RFC 1813, Section 3.3.15). */
public final class Link {

    private Link() {}

    /** The file, and the entry to be made for it. */
    public record Arguments(FileHandle file, FileHandle directory, FileName name) implements XdrValue {

        /** Reads them. */
        public static Arguments read(XdrReader in) throws XdrException {
            return new Arguments(FileHandle.read(in), FileHandle.read(in), FileName.read(in));
        }

        @Override
        public void write(XdrWriter out) {
            file.write(out);
            directory.write(out);
            name.write(out);
        }
    }

    /**
     * What came of it; with the same attributes whether it succeeded or not.
     *
     * @param status whether it succeeded
     * @param attributes the file's attributes; null if not known
     * @param directoryChange attributes of the directory before and after; as far as known
     */
    public record Results(Status status, @Nullable Attributes attributes, WeakCacheData directoryChange)
            implements NfsResults {

        /** Reads them. */
        public static Results read(XdrReader in) throws XdrException {
            return new Results(Status.read(in), Attributes.readOptional(in), WeakCacheData.read(in));
        }

        @Override
        public void write(XdrWriter out) {
            status.write(out);
            Attributes.writeOptional(out, attributes);
            directoryChange.write(out);
        }
    }
}
