// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** CREATE: create a file (RFC 1813, Section 3.3.8). Results are {@link CreateResults}. */
public final class Create {

    private Create() {}

    /** How to create (createhow3). */
    public sealed interface How extends XdrValue {

        /** Reads it. */
        static How read(XdrReader in) throws XdrException {
            return switch (in.readEnum(0, 2)) {
                case 0 -> new Unchecked(SetAttributes.read(in));
                case 1 -> new Guarded(SetAttributes.read(in));
                default -> new Exclusive(in.readHyper());
            };
        }

        @Override
        default void write(XdrWriter out) {
            switch (this) {
                case Unchecked unchecked -> {
                    out.writeInt(0);
                    unchecked.attributes.write(out);
                }
                case Guarded guarded -> {
                    out.writeInt(1);
                    guarded.attributes.write(out);
                }
                case Exclusive exclusive -> {
                    out.writeInt(2);
                    out.writeHyper(exclusive.verifier);
                }
            }
        }
    }

    /** UNCHECKED: a file that is there already will do. */
    public record Unchecked(SetAttributes attributes) implements How {}

    /** GUARDED: fails if something is there already. */
    public record Guarded(SetAttributes attributes) implements How {}

    /**
     * EXCLUSIVE: as GUARDED, but succeeds if what is there was made by the same call.
     *
     * @param verifier the call's mark, 8 bytes, which the server keeps with the file until its attributes are set
     */
    public record Exclusive(long verifier) implements How {}

    /** What to create, where and how. */
    public record Arguments(FileHandle directory, FileName name, How how) implements XdrValue {

        /** Reads them. */
        public static Arguments read(XdrReader in) throws XdrException {
            return new Arguments(FileHandle.read(in), FileName.read(in), How.read(in));
        }

        @Override
        public void write(XdrWriter out) {
            directory.write(out);
            name.write(out);
            how.write(out);
        }
    }
}
