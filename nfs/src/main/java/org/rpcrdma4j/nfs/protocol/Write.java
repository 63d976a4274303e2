// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** WRITE: write to a file (RFC 1813, Section 3.3.7). */
public final class Write {

    private Write() {}

    /**
     * What to write.
     *
     * @param file the file
     * @param offset first byte, unsigned
     * @param stable how far the data is to be on stable storage when the reply is sent
     * @param data the bytes, in pieces; an eligible item (RFC 8267, Section 4)
     */
    public record Arguments(FileHandle file, long offset, StableHow stable, List<MemorySegment> data)
            implements XdrValue {

        /** Keeps a copy of the list, not of the bytes. */
        public Arguments {
            data = List.copyOf(data);
        }

        /** Number of bytes. */
        public long count() {
            long sum = 0;
            for (MemorySegment piece : data) {
                sum += piece.byteSize();
            }
            return sum;
        }

        /** Reads them; the data's pieces are slices of the message. */
        public static Arguments read(XdrReader in) throws XdrException {
            FileHandle file = FileHandle.read(in);
            long offset = in.readHyper();
            long count = in.readUnsignedInt();
            StableHow stable = StableHow.read(in);
            long length = in.readLength(Integer.MAX_VALUE);
            // RFC 1813, Section 3.3.7: count is the number of bytes to be written; it leaves open what another length
            // of the data means. As Linux does, nothing is guessed.
            if (length != count) {
                throw in.bad("length of data besides count " + count + ",", (int) length);
            }
            List<MemorySegment> data = new ArrayList<>(1);
            in.readPieces(length, data);
            in.skip(XdrReader.padded(length) - length);
            return new Arguments(file, offset, stable, data);
        }

        /** Writes the arguments; the pieces become an item, and are not copied. */
        @Override
        public void write(XdrWriter out) {
            file.write(out);
            out.writeHyper(offset);
            out.writeUnsignedInt(count());
            stable.write(out);
            out.writeItem(data);
        }
    }

    /** What came of it. */
    public sealed interface Results extends NfsResults {

        /** Attributes of the file before and after, as far as known. */
        WeakCacheData change();

        /** Reads them; nothing may follow, which the caller checks. */
        static Results read(XdrReader in) throws XdrException {
            Status status = Status.read(in);
            WeakCacheData change = WeakCacheData.read(in);
            return status == Status.OK
                    ? new Ok(change, in.readUnsignedInt(), StableHow.read(in), WriteVerifier.read(in))
                    : new Failed(status, change);
        }
    }

    /**
     * Something was written.
     *
     * @param change attributes of the file before and after, as far as known
     * @param count number of bytes; may be less than asked
     * @param committed how far the data is on stable storage; not less than asked
     * @param verifier to be compared with those of other WRITEs and of COMMIT
     */
    public record Ok(WeakCacheData change, long count, StableHow committed, WriteVerifier verifier) implements Results {

        @Override
        public Status status() {
            return Status.OK;
        }

        @Override
        public void write(XdrWriter out) {
            Status.OK.write(out);
            change.write(out);
            out.writeUnsignedInt(count);
            committed.write(out);
            verifier.write(out);
        }
    }

    /**
     * It failed.
     *
     * @param status why
     * @param change attributes of the file before and after, as far as known
     */
    public record Failed(Status status, WeakCacheData change) implements Results {

        /** Checks that the status is a failure. */
        public Failed {
            status.requireFailure();
        }

        @Override
        public void write(XdrWriter out) {
            status.write(out);
            change.write(out);
        }
    }
}
