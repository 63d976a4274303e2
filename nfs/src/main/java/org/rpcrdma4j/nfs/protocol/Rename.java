// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** RENAME: rename a file or directory (RFC 1813, Section 3.3.14). */
public final class Rename {

    private Rename() {}

    /** The old entry and the new one. */
    public record Arguments(FileHandle fromDirectory, FileName fromName, FileHandle toDirectory, FileName toName)
            implements XdrValue {

        /** Reads them. */
        public static Arguments read(XdrReader in) throws XdrException {
            return new Arguments(FileHandle.read(in), FileName.read(in), FileHandle.read(in), FileName.read(in));
        }

        @Override
        public void write(XdrWriter out) {
            fromDirectory.write(out);
            fromName.write(out);
            toDirectory.write(out);
            toName.write(out);
        }
    }

    /**
     * What came of it; with the same attributes whether it succeeded or not.
     *
     * @param status whether it succeeded
     * @param fromChange attributes of the old directory before and after; as far as known
     * @param toChange attributes of the new directory before and after; as far as known
     */
    public record Results(Status status, WeakCacheData fromChange, WeakCacheData toChange) implements NfsResults {

        /** Reads them. */
        public static Results read(XdrReader in) throws XdrException {
            return new Results(Status.read(in), WeakCacheData.read(in), WeakCacheData.read(in));
        }

        @Override
        public void write(XdrWriter out) {
            status.write(out);
            fromChange.write(out);
            toChange.write(out);
        }
    }
}
