// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** SETATTR: set file attributes (RFC 1813, Section 3.3.2). Results are {@link ChangeResults}. */
public final class SetAttr {

    private SetAttr() {}

    /**
     * What to set.
     *
     * @param file the file
     * @param attributes what to set
     * @param guard set nothing unless the file's change time is this; null to set in any case
     */
    public record Arguments(
            FileHandle file,
            SetAttributes attributes,
            @Nullable Time guard) implements XdrValue {

        /** Sets them in any case. */
        public Arguments(FileHandle file, SetAttributes attributes) {
            this(file, attributes, null);
        }

        /** Reads them. */
        public static Arguments read(XdrReader in) throws XdrException {
            return new Arguments(FileHandle.read(in), SetAttributes.read(in), in.readBool() ? Time.read(in) : null);
        }

        @Override
        public void write(XdrWriter out) {
            file.write(out);
            attributes.write(out);
            Time changeTime = guard;
            out.writeBool(changeTime != null);
            if (changeTime != null) {
                changeTime.write(out);
            }
        }
    }
}
