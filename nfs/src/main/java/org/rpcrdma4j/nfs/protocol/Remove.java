// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** REMOVE: remove a file (RFC 1813, Section 3.3.12). Results are {@link ChangeResults}. */
public final class Remove {

    private Remove() {}

    /** What to remove, and where. */
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
}
