// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.copy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.rpcrdma4j.nfs.client.NfsBuffer;
import org.rpcrdma4j.nfs.client.NfsFile;
import org.rpcrdma4j.nfs.client.NfsVolume;
import org.rpcrdma4j.nfs.client.NfsWriter;
import org.rpcrdma4j.nfs.protocol.SetAttributes;

/** A new file of a mounted export. */
final class NfsSink implements Sink {
    private final NfsVolume volume;
    private final NfsFile file;
    private final NfsWriter writer;
    private long end;

    NfsSink(NfsVolume volume, NfsFile file) throws IOException {
        this.volume = volume;
        this.file = file;
        writer = volume.openWrite(file);
    }

    @Override
    public boolean keepsHoles() {
        return true;
    }

    @Override
    public Piece buffer() throws IOException {
        return Piece.in(writer.buffer());
    }

    @Override
    public void write(Piece piece) throws IOException {
        NfsBuffer lent = piece.lent();
        // A file of one piece: gathered, it is one WRITE that is stable at once, which saves the COMMIT.
        boolean isWhole = end == 0 && piece.length() < piece.memory().byteSize();
        if (lent == null || isWhole) {
            try (piece) {
                write(piece.offset(), piece.data());
            }
            return;
        }
        end = Math.max(end, piece.offset() + piece.length());
        writer.write(piece.offset(), lent, piece.length());
    }

    @Override
    public void write(long offset, MemorySegment data) throws IOException {
        end = Math.max(end, offset + data.byteSize());
        writer.write(offset, data);
    }

    @Override
    public NfsFile finish(long size) throws IOException {
        writer.close();
        if (size > end) {
            var _ = volume.setAttributes(file, SetAttributes.NONE.withSize(size));
        }
        return file;
    }

    @Override
    public void abort() {
        writer.abort();
        try {
            writer.close();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
