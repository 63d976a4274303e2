// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** MKDIR: create a directory (RFC 1813, Section 3.3.9). Results are {@link CreateResults}. */
public final class MkDir {

    private MkDir() {}

    /** What to create, and where. */
    public record Arguments(FileHandle directory, FileName name, SetAttributes attributes) implements XdrValue {

        /** Reads them. */
        public static Arguments read(XdrReader in) throws XdrException {
            return new Arguments(FileHandle.read(in), FileName.read(in), SetAttributes.read(in));
        }

        @Override
        public void write(XdrWriter out) {
            directory.write(out);
            name.write(out);
            attributes.write(out);
        }
    }
}
