// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** READ: read from a file (RFC 1813, Section 3.3.6). */
public final class Read {

    private Read() {}

    /**
     * What to read.
     *
     * @param file the file
     * @param offset first byte, unsigned
     * @param count number of bytes
     */
    public record Arguments(FileHandle file, long offset, long count) implements XdrValue {

        /** Reads them. */
        public static Arguments read(XdrReader in) throws XdrException {
            return new Arguments(FileHandle.read(in), in.readHyper(), in.readUnsignedInt());
        }

        @Override
        public void write(XdrWriter out) {
            file.write(out);
            out.writeHyper(offset);
            out.writeUnsignedInt(count);
        }
    }

    /** What came of it. */
    public sealed interface Results extends NfsResults {

        /**
         * Reads them. The data's pieces are slices of the message.
         *
         * @param placedBytes how much of the data the transport has placed in the call's target; the message then has its count and nothing
         *     else of it. 0 if the data, if there is any, is in the message
         * @param most how much was asked for
         * @throws XdrException also if there is more data than was asked for, or its lengths contradict each other
         */
        static Results read(XdrReader in, long placedBytes, long most) throws XdrException {
            Status status = Status.read(in);
            return status == Status.OK
                    ? Ok.read(in, placedBytes, most)
                    : new Failed(status, Attributes.readOptional(in));
        }
    }

    /**
     * Data.
     *
     * @param attributes after the operation; null if not known
     * @param count how much was read
     * @param endOfFile whether the data reaches the end of the file, or beyond it
     * @param data the bytes; an eligible item (RFC 8267, Section 4). Empty with a count if they were placed in the call's target
     */
    public record Ok(@Nullable Attributes attributes, int count, boolean endOfFile, List<MemorySegment> data)
            implements Results {

        /** Keeps a copy of the list, not of the bytes. */
        public Ok {
            data = List.copyOf(data);
        }

        /** Results for a caller: the memory stays as it is until the reply is sent. */
        public static Ok of(@Nullable Attributes attributes, boolean endOfFile, MemorySegment data) {
            return new Ok(attributes, Math.toIntExact(data.byteSize()), endOfFile, List.of(data));
        }

        static Ok read(XdrReader in, long placedBytes, long most) throws XdrException {
            Attributes attributes = Attributes.readOptional(in);
            int count = in.readInt();
            boolean endOfFile = in.readBool();
            long length = in.readDeclaredLength(Math.min(most, Integer.MAX_VALUE));
            // RFC 1813, Section 3.3.6: count is the number of bytes returned.
            if (length != count || (placedBytes != 0 && placedBytes != length)) {
                throw in.bad(
                        "length of data besides count " + count + " and " + placedBytes + " placed,", (int) length);
            }
            List<MemorySegment> data = new ArrayList<>(1);
            if (placedBytes == 0) {
                in.readPieces(length, data);
                in.skip(XdrReader.padded(length) - length);
            }
            return new Ok(attributes, count, endOfFile, data);
        }

        @Override
        public Status status() {
            return Status.OK;
        }

        /** Writes the results; the pieces become an item, and are not copied. */
        @Override
        public void write(XdrWriter out) {
            Status.OK.write(out);
            Attributes.writeOptional(out, attributes);
            out.writeInt(count);
            out.writeBool(endOfFile);
            out.writeItem(data);
        }
    }

    /**
     * It failed.
     *
     * @param status why
     * @param attributes after the operation; null if not known
     */
    public record Failed(Status status, @Nullable Attributes attributes) implements Results {

        /** Checks that the status is a failure. */
        public Failed {
            status.requireFailure();
        }

        @Override
        public void write(XdrWriter out) {
            status.write(out);
            Attributes.writeOptional(out, attributes);
        }
    }
}
