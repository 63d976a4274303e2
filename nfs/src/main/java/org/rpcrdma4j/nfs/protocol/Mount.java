// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import java.util.ArrayList;
import java.util.List;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/**
 * MOUNT version 3 (RFC 1813, Section 5): numbers, and results of its procedures. MNT and UMNT take a {@link #readPath path}, the others
 * nothing; UMNT and UMNTALL have no results.
 */
public final class Mount {

    /** The program. */
    public static final int PROGRAM = 100005;

    /** The version that goes with NFS version 3. */
    public static final int VERSION = 3;

    /** Procedure: add a mount entry; gives the handle of a directory. */
    public static final int MNT = 1;

    /** Procedure: return mount entries. */
    public static final int DUMP = 2;

    /** Procedure: remove a mount entry. */
    public static final int UMNT = 3;

    /** Procedure: remove all mount entries of the caller. */
    public static final int UMNTALL = 4;

    /** Procedure: return the export list. */
    public static final int EXPORT = 5;

    /** The longest path (MNTPATHLEN). */
    public static final int MAX_PATH_BYTES = 1024;

    /** The longest name of a host or group (MNTNAMLEN). */
    public static final int MAX_NAME_BYTES = 255;

    /** Flavours of authentication that are read; more than have ever been assigned. */
    private static final int MAX_FLAVORS = 256;

    private Mount() {}

    /** Reads the path that MNT and UMNT take. */
    public static PathBytes readPath(XdrReader in) throws XdrException {
        return PathBytes.read(in, MAX_PATH_BYTES);
    }

    /** Results of MNT (mountres3). */
    public sealed interface Results extends XdrValue {

        /** Whether it succeeded, and why not. */
        MountStatus status();

        /** Reads them. */
        static Results read(XdrReader in) throws XdrException {
            MountStatus status = MountStatus.read(in);
            return status == MountStatus.OK ? Ok.read(in) : new Failed(status);
        }
    }

    /**
     * It may be used.
     *
     * @param directory its handle
     * @param flavors numbers of the flavours of authentication that may be used, the preferred one first
     */
    public record Ok(FileHandle directory, List<Integer> flavors) implements Results {

        /** Keeps a copy of the list. */
        public Ok {
            flavors = List.copyOf(flavors);
        }

        static Ok read(XdrReader in) throws XdrException {
            FileHandle directory = FileHandle.read(in);
            // ORDER: the bound is checked before anything is allocated by the count.
            int count = in.readCount(MAX_FLAVORS, 4);
            List<Integer> flavors = new ArrayList<>(count);
            for (int i = 0; i < count; i++) {
                flavors.add(in.readInt());
            }
            return new Ok(directory, flavors);
        }

        @Override
        public MountStatus status() {
            return MountStatus.OK;
        }

        @Override
        public void write(XdrWriter out) {
            MountStatus.OK.write(out);
            directory.write(out);
            out.writeInt(flavors.size());
            flavors.forEach(out::writeInt);
        }
    }

    /** It may not be used. */
    public record Failed(MountStatus status) implements Results {

        /** Checks that the status is a failure. */
        public Failed {
            status.status().requireFailure();
        }

        @Override
        public void write(XdrWriter out) {
            status.write(out);
        }
    }

    /**
     * Who has mounted what (mountbody).
     *
     * @param host the client's name
     * @param directory the path
     */
    public record Entry(String host, PathBytes directory) implements XdrValue {

        /** Reads it. */
        public static Entry read(XdrReader in) throws XdrException {
            return new Entry(in.readString(MAX_NAME_BYTES), readPath(in));
        }

        @Override
        public void write(XdrWriter out) {
            out.writeString(host);
            directory.write(out);
        }
    }

    /**
     * A directory that may be mounted (exportnode).
     *
     * @param directory the path
     * @param groups who may mount it; nobody means everybody
     */
    public record Export(PathBytes directory, List<String> groups) implements XdrValue {

        /** Keeps a copy of the list. */
        public Export {
            groups = List.copyOf(groups);
        }

        /** Reads it. */
        public static Export read(XdrReader in) throws XdrException {
            PathBytes directory = readPath(in);
            return new Export(directory, readList(in, reader -> reader.readString(MAX_NAME_BYTES)));
        }

        @Override
        public void write(XdrWriter out) {
            directory.write(out);
            for (String group : groups) {
                out.writeBool(true);
                out.writeString(group);
            }
            out.writeBool(false);
        }
    }

    /** Reads the results of DUMP. */
    public static List<Entry> readEntries(XdrReader in) throws XdrException {
        return readList(in, Entry::read);
    }

    /** Reads the results of EXPORT. */
    public static List<Export> readExports(XdrReader in) throws XdrException {
        return readList(in, Export::read);
    }

    /** Writes the results of DUMP or EXPORT. */
    public static void writeList(XdrWriter out, List<? extends XdrValue> elements) {
        for (XdrValue element : elements) {
            out.writeBool(true);
            element.write(out);
        }
        out.writeBool(false);
    }

    @FunctionalInterface
    private interface Element<T> {
        T read(XdrReader in) throws XdrException;
    }

    /** A list with a word before each element; bounded by the bytes at hand, as each element takes some. */
    private static <T> List<T> readList(XdrReader in, Element<T> element) throws XdrException {
        List<T> list = new ArrayList<>();
        while (in.readBool()) {
            list.add(element.read(in));
        }
        return list;
    }
}
