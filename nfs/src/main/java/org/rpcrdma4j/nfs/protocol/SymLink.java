// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** SYMLINK: create a symbolic link (RFC 1813, Section 3.3.10). Results are {@link CreateResults}. */
public final class SymLink {

    private SymLink() {}

    /**
     * What to create, and where.
     *
     * @param directory the directory
     * @param name the link's name in it
     * @param attributes the link's attributes
     * @param target what the link says; an eligible item (RFC 8267, Section 4)
     */
    public record Arguments(FileHandle directory, FileName name, SetAttributes attributes, PathBytes target)
            implements XdrValue {

        /** Reads them. */
        public static Arguments read(XdrReader in) throws XdrException {
            return new Arguments(FileHandle.read(in), FileName.read(in), SetAttributes.read(in), PathBytes.read(in));
        }

        @Override
        public void write(XdrWriter out) {
            directory.write(out);
            name.write(out);
            attributes.write(out);
            target.writeItem(out);
        }
    }
}
