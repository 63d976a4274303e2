// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.server;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.export.Export;
import org.rpcrdma4j.nfs.export.Identity;
import org.rpcrdma4j.nfs.export.OpenFile;
import org.rpcrdma4j.nfs.export.OpenMode;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.Commit;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.NfsException;
import org.rpcrdma4j.nfs.protocol.Read;
import org.rpcrdma4j.nfs.protocol.StableHow;
import org.rpcrdma4j.nfs.protocol.Status;
import org.rpcrdma4j.nfs.protocol.WeakCacheData;
import org.rpcrdma4j.nfs.protocol.Write;
import org.rpcrdma4j.nfs.protocol.WriteVerifier;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.rpc.CallContext;

/**
 * READ, WRITE and COMMIT (RFC 1813, Sections 3.3.6, 3.3.7 and 3.3.21). Bytes go from the file into the transport's memory for results, and
 * from the call's message into the file; nothing is copied here. Any thread.
 */
final class FileData {

    private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

    private final Export export;
    private final Counters<NfsServerCounter> counters;
    private final StableStorage stable;

    FileData(Export export, Counters<NfsServerCounter> counters) {
        this.export = export;
        this.counters = counters;
        stable = new StableStorage(counters);
    }

    /** RFC 1813, Section 3.3.6. Memory is taken for what the file has, not for what is asked. */
    Read.Results read(Identity caller, Read.Arguments arguments, CallContext context) {
        long offset = arguments.offset();
        try (OpenFile file = export.open(caller, arguments.file(), OpenMode.READ)) {
            // The offset is unsigned: what is negative here is beyond any file.
            long there = offset < 0 ? 0 : Math.max(0, file.sizeAtOpening() - offset);
            int wanted = (int)
                    Math.min(there, Math.min(arguments.count(), export.options().maxReadBytes()));
            MemorySegment memory = memory(context, wanted);
            if (memory == null) {
                counters.increment(NfsServerCounter.READS_WITHOUT_MEMORY);
                return new Read.Failed(Status.JUKEBOX, file.attributes());
            }
            int done = fill(file.channel(), memory, offset, wanted);
            Attributes after = file.attributes();
            long size = after == null ? file.sizeAtOpening() : after.size();
            // The file may have been cut or have grown meanwhile. RFC 1813, Section 3.3.6: a reply without data must
            // say that the file ends.
            boolean ends = offset < 0 || offset + done >= size || (done == 0 && arguments.count() > 0);
            counters.add(NfsServerCounter.READ_BYTES, done);
            return Read.Ok.of(after, ends, done == memory.byteSize() ? memory : memory.asSlice(0, done));
        } catch (IOException e) {
            return new Read.Failed(Export.statusOf(e), null);
        }
    }

    /** Memory for so many bytes; null if it is used up. RFC 1813, Section 2.6: NFS3ERR_JUKEBOX has the client come again. */
    private static @Nullable MemorySegment memory(CallContext context, int bytes) {
        try {
            return bytes == 0 ? NOTHING : context.allocate(bytes);
        } catch (IllegalStateException e) {
            return null;
        }
    }

    private static int fill(FileChannel channel, MemorySegment memory, long offset, int wanted) throws IOException {
        ByteBuffer buffer = memory.asByteBuffer();
        buffer.limit(wanted);
        while (buffer.hasRemaining()) {
            if (channel.read(buffer, offset + buffer.position()) < 0) {
                break;
            }
        }
        return buffer.position();
    }

    /** RFC 1813, Section 3.3.7. */
    Write.Results write(Identity caller, Write.Arguments arguments) {
        long offset = arguments.offset();
        long wanted = Math.min(arguments.count(), export.options().maxWriteBytes());
        // ORDER: read before the kernel has anything; or a failure in between would not show.
        WriteVerifier current = stable.verifier();
        try (OpenFile file = export.open(caller, arguments.file(), OpenMode.WRITE)) {
            if (offset < 0 || offset > Long.MAX_VALUE - wanted) {
                return new Write.Failed(Status.FBIG, file.change());
            }
            try {
                long done = drain(arguments.data(), wanted, file.channel(), offset);
                counters.add(NfsServerCounter.WRITTEN_BYTES, done);
                if (arguments.stable() != StableHow.UNSTABLE && done > 0) {
                    stable.bring(file.channel(), arguments.stable() == StableHow.FILE_SYNC);
                }
                return new Write.Ok(file.change(), done, arguments.stable(), current);
            } catch (IOException e) {
                return new Write.Failed(Export.statusOf(e), file.change());
            }
        } catch (IOException e) {
            return new Write.Failed(Export.statusOf(e), WeakCacheData.NONE);
        }
    }

    /** Writes up to so many bytes of the pieces. RFC 1813, Section 3.3.7: what fails after some bytes is told by a short count. */
    static long drain(List<MemorySegment> data, long wanted, FileChannel channel, long offset) throws IOException {
        long done = 0;
        try {
            for (MemorySegment piece : data) {
                ByteBuffer buffer = piece.asByteBuffer();
                buffer.limit((int) Math.min(buffer.limit(), wanted - done));
                while (buffer.hasRemaining()) {
                    int written = channel.write(buffer, offset + done);
                    if (written <= 0) {
                        throw new IOException("nothing written of " + buffer.remaining() + " bytes");
                    }
                    done += written;
                }
            }
        } catch (IOException e) {
            if (done == 0) {
                throw e;
            }
        }
        return done;
    }

    /** RFC 1813, Section 3.3.21. The range is not looked at: all of the file's data is brought to stable storage. */
    Commit.Results commit(Identity caller, Commit.Arguments arguments) {
        try (OpenFile file = openToCommit(caller, arguments.file())) {
            try {
                WriteVerifier current = stable.bring(file.channel(), true);
                return new Commit.Ok(file.change(), current);
            } catch (IOException e) {
                return new Commit.Failed(Export.statusOf(e), file.change());
            }
        } catch (IOException e) {
            return new Commit.Failed(Export.statusOf(e), WeakCacheData.NONE);
        }
    }

    /** A file that was made read-only after it was written is committed all the same; any channel of it brings all of its data there. */
    private OpenFile openToCommit(Identity caller, FileHandle file) throws NfsException {
        try {
            return export.open(caller, file, OpenMode.WRITE);
        } catch (NfsException e) {
            if (e.status() != Status.ACCES) {
                throw e;
            }
            return export.open(caller, file, OpenMode.READ);
        }
    }
}
