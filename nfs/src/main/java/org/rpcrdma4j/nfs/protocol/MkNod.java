// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** MKNOD: create a special device (RFC 1813, Section 3.3.11). Results are {@link CreateResults}. */
public final class MkNod {

    private MkNod() {}

    /** What to create (mknoddata3). */
    public sealed interface What extends XdrValue {

        /** Its type. */
        FileType type();

        /** Reads it. */
        static What read(XdrReader in) throws XdrException {
            FileType type = FileType.read(in);
            return switch (type) {
                case BLOCK_DEVICE, CHARACTER_DEVICE ->
                    new Device(type, SetAttributes.read(in), in.readInt(), in.readInt());
                case SOCKET, FIFO -> new Pipe(type, SetAttributes.read(in));
                case REGULAR, DIRECTORY, SYMBOLIC_LINK -> new Other(type);
            };
        }

        @Override
        default void write(XdrWriter out) {
            type().write(out);
            switch (this) {
                case Device device -> {
                    device.attributes.write(out);
                    out.writeInt(device.major);
                    out.writeInt(device.minor);
                }
                case Pipe pipe -> pipe.attributes.write(out);
                case Other _ -> {}
            }
        }
    }

    /** A block or character device. */
    public record Device(FileType type, SetAttributes attributes, int major, int minor) implements What {

        /** Checks the type. */
        public Device {
            if (type != FileType.BLOCK_DEVICE && type != FileType.CHARACTER_DEVICE) {
                throw new IllegalArgumentException(type + " is no device");
            }
        }
    }

    /** A socket or a pipe with a name. */
    public record Pipe(FileType type, SetAttributes attributes) implements What {

        /** Checks the type. */
        public Pipe {
            if (type != FileType.SOCKET && type != FileType.FIFO) {
                throw new IllegalArgumentException(type + " is neither socket nor pipe");
            }
        }
    }

    /** A type that has a procedure of its own: servers answer NFS3ERR_BADTYPE. */
    public record Other(FileType type) implements What {

        /** Checks the type. */
        public Other {
            if (type.value() > 2 && type != FileType.SYMBOLIC_LINK) {
                throw new IllegalArgumentException(type + " needs attributes");
            }
        }
    }

    /** What to create, and where. */
    public record Arguments(FileHandle directory, FileName name, What what) implements XdrValue {

        /** Reads them. */
        public static Arguments read(XdrReader in) throws XdrException {
            return new Arguments(FileHandle.read(in), FileName.read(in), What.read(in));
        }

        @Override
        public void write(XdrWriter out) {
            directory.write(out);
            name.write(out);
            what.write(out);
        }
    }
}
