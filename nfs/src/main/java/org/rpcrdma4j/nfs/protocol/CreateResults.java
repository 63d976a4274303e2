// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** Results of CREATE, MKDIR, SYMLINK and MKNOD. */
public sealed interface CreateResults extends NfsResults {

    /** Attributes of the directory before and after, as far as known. */
    WeakCacheData directoryChange();

    /** Reads them; nothing may follow, which the caller checks. */
    static CreateResults read(XdrReader in) throws XdrException {
        Status status = Status.read(in);
        return status == Status.OK ? Ok.read(in) : Failed.read(status, in);
    }

    /**
     * The file is made.
     *
     * @param file the new file; null if the server does not tell
     * @param attributes its attributes; null if not known
     * @param directoryChange attributes of the directory before and after; as far as known
     */
    record Ok(@Nullable FileHandle file, @Nullable Attributes attributes, WeakCacheData directoryChange)
            implements CreateResults {

        static Ok read(XdrReader in) throws XdrException {
            return new Ok(FileHandle.readOptional(in), Attributes.readOptional(in), WeakCacheData.read(in));
        }

        @Override
        public Status status() {
            return Status.OK;
        }

        @Override
        public void write(XdrWriter out) {
            Status.OK.write(out);
            FileHandle.writeOptional(out, file);
            Attributes.writeOptional(out, attributes);
            directoryChange.write(out);
        }
    }

    /**
     * It failed.
     *
     * @param status why
     * @param directoryChange attributes of the directory before and after; as far as known
     */
    record Failed(Status status, WeakCacheData directoryChange) implements CreateResults {

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
            directoryChange.write(out);
        }
    }
}
