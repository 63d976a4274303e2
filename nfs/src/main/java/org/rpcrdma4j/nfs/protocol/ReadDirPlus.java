// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** READDIRPLUS: extended read from a directory (RFC 1813, Section 3.3.17). */
public final class ReadDirPlus {

    private ReadDirPlus() {}

    /**
     * Which part of a directory.
     *
     * @param directory the directory
     * @param cookie where to go on: that of the last entry that was had; 0 for the beginning
     * @param cookieVerifier what came with the cookie; {@link CookieVerifier#NONE} with 0
     * @param directoryCount most bytes of directory information: numbers, names and cookies
     * @param maxCount most bytes of the results
     */
    public record Arguments(
            FileHandle directory, long cookie, CookieVerifier cookieVerifier, long directoryCount, long maxCount)
            implements XdrValue {

        /** Reads them. */
        public static Arguments read(XdrReader in) throws XdrException {
            return new Arguments(
                    FileHandle.read(in),
                    in.readHyper(),
                    CookieVerifier.read(in),
                    in.readUnsignedInt(),
                    in.readUnsignedInt());
        }

        @Override
        public void write(XdrWriter out) {
            directory.write(out);
            out.writeHyper(cookie);
            cookieVerifier.write(out);
            out.writeUnsignedInt(directoryCount);
            out.writeUnsignedInt(maxCount);
        }
    }

    /**
     * One entry.
     *
     * @param fileId the file's number
     * @param name its name
     * @param cookie where to go on behind it
     * @param attributes the file's; null if not known
     * @param file the file; null if not known
     */
    public record Entry(
            long fileId,
            FileName name,
            long cookie,
            @Nullable Attributes attributes,
            @Nullable FileHandle file) implements XdrValue {

        /** Reads it. */
        public static Entry read(XdrReader in) throws XdrException {
            return new Entry(
                    in.readHyper(),
                    FileName.read(in),
                    in.readHyper(),
                    Attributes.readOptional(in),
                    FileHandle.readOptional(in));
        }

        @Override
        public void write(XdrWriter out) {
            out.writeHyper(fileId);
            name.write(out);
            out.writeHyper(cookie);
            Attributes.writeOptional(out, attributes);
            FileHandle.writeOptional(out, file);
        }

        /** Bytes of directory information, which count towards {@code directoryCount}. */
        public int directoryBytes() {
            return 8 + name.encodedBytes() + 8;
        }

        /** Bytes on the wire, with the word that says that an entry follows. */
        public int encodedBytes() {
            FileHandle handle = file;
            return 4
                    + directoryBytes()
                    + (attributes == null ? 4 : 4 + Attributes.ENCODED_BYTES)
                    + (handle == null ? 4 : 4 + handle.encodedBytes());
        }
    }

    /** What came of it. */
    public sealed interface Results extends NfsResults {

        /** Reads them; nothing may follow, which the caller checks. */
        static Results read(XdrReader in) throws XdrException {
            Status status = Status.read(in);
            return status == Status.OK ? Ok.read(in) : new Failed(status, Attributes.readOptional(in));
        }
    }

    /**
     * Entries.
     *
     * @param attributes the directory's; null if not known
     * @param cookieVerifier to be sent with the cookies
     * @param entries the entries, in the server's order
     * @param endOfDirectory whether no more entries follow
     */
    public record Ok(
            @Nullable Attributes attributes, CookieVerifier cookieVerifier, List<Entry> entries, boolean endOfDirectory)
            implements Results {

        /** Bytes of the results without attributes and without an entry: status, verifier, end of the list, end of the directory. */
        public static final int EMPTY_BYTES = 4 + 4 + 8 + 4 + 4;

        /** Keeps a copy of the list. */
        public Ok {
            entries = List.copyOf(entries);
        }

        static Ok read(XdrReader in) throws XdrException {
            Attributes attributes = Attributes.readOptional(in);
            CookieVerifier verifier = CookieVerifier.read(in);
            // The list is bounded by the bytes at hand: each entry takes some.
            List<Entry> entries = new ArrayList<>();
            while (in.readBool()) {
                entries.add(Entry.read(in));
            }
            return new Ok(attributes, verifier, entries, in.readBool());
        }

        @Override
        public Status status() {
            return Status.OK;
        }

        @Override
        public void write(XdrWriter out) {
            Status.OK.write(out);
            Attributes.writeOptional(out, attributes);
            cookieVerifier.write(out);
            for (Entry entry : entries) {
                out.writeBool(true);
                entry.write(out);
            }
            out.writeBool(false);
            out.writeBool(endOfDirectory);
        }
    }

    /**
     * It failed.
     *
     * @param status why
     * @param attributes the directory's; null if not known
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
