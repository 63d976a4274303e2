// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.rpcrdma4j.nfs.protocol.Access;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.ChangeResults;
import org.rpcrdma4j.nfs.protocol.CookieVerifier;
import org.rpcrdma4j.nfs.protocol.Create;
import org.rpcrdma4j.nfs.protocol.CreateResults;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.GetAttr;
import org.rpcrdma4j.nfs.protocol.Link;
import org.rpcrdma4j.nfs.protocol.Lookup;
import org.rpcrdma4j.nfs.protocol.MkDir;
import org.rpcrdma4j.nfs.protocol.NfsException;
import org.rpcrdma4j.nfs.protocol.NfsResults;
import org.rpcrdma4j.nfs.protocol.PathBytes;
import org.rpcrdma4j.nfs.protocol.ReadDir;
import org.rpcrdma4j.nfs.protocol.ReadDirPlus;
import org.rpcrdma4j.nfs.protocol.ReadLink;
import org.rpcrdma4j.nfs.protocol.Remove;
import org.rpcrdma4j.nfs.protocol.Rename;
import org.rpcrdma4j.nfs.protocol.RmDir;
import org.rpcrdma4j.nfs.protocol.SetAttr;
import org.rpcrdma4j.nfs.protocol.SetAttributes;
import org.rpcrdma4j.nfs.protocol.Status;
import org.rpcrdma4j.nfs.protocol.SymLink;

/** Calls an export as a client of some identity does; names are text in UTF-8 unless given as {@link FileName}. */
record Caller(Export export, Identity who) {

    static final Duration PATIENCE = Duration.ofSeconds(30);

    FileHandle root() {
        return export.root();
    }

    /** Calls again while the server asks for it. */
    static <R extends NfsResults> R patiently(Supplier<R> call) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            R results = call.get();
            if (results.status() != Status.JUKEBOX) {
                return results;
            }
            assertThat(System.nanoTime()).as("still JUKEBOX").isLessThan(end);
            LockSupport.parkNanos(200_000);
        }
    }

    Lookup.Results lookup(FileHandle directory, FileName name) {
        return export.lookup(who, new Lookup.Arguments(directory, name));
    }

    Lookup.Results lookup(FileHandle directory, String name) {
        return lookup(directory, FileName.of(name));
    }

    /** The handle of a path below the root. */
    FileHandle at(String path) {
        FileHandle at = root();
        for (String name : path.split("/", -1)) {
            Lookup.Results results = lookup(at, name);
            assertThat(results).as(path + " at " + name).isInstanceOf(Lookup.Ok.class);
            at = ((Lookup.Ok) results).file();
        }
        return at;
    }

    GetAttr.Results getAttr(FileHandle file) {
        return export.getAttr(who, new GetAttr.Arguments(file));
    }

    Attributes attributes(FileHandle file) {
        GetAttr.Results results = getAttr(file);
        assertThat(results).isInstanceOf(GetAttr.Ok.class);
        return ((GetAttr.Ok) results).attributes();
    }

    CreateResults create(FileHandle directory, FileName name, Create.How how) {
        return export.create(who, new Create.Arguments(directory, name, how));
    }

    CreateResults create(FileHandle directory, String name) {
        return create(directory, FileName.of(name), new Create.Guarded(SetAttributes.NONE.withMode(0644)));
    }

    static FileHandle handleOf(CreateResults results) {
        assertThat(results).isInstanceOf(CreateResults.Ok.class);
        return Objects.requireNonNull(((CreateResults.Ok) results).file());
    }

    FileHandle file(FileHandle directory, String name) {
        return handleOf(create(directory, name));
    }

    FileHandle directory(FileHandle directory, String name) {
        return handleOf(mkDir(directory, name));
    }

    CreateResults mkDir(FileHandle directory, String name) {
        return export.mkDir(who, new MkDir.Arguments(directory, FileName.of(name), SetAttributes.NONE.withMode(0755)));
    }

    CreateResults symLink(FileHandle directory, String name, PathBytes target) {
        return export.symLink(who, new SymLink.Arguments(directory, FileName.of(name), SetAttributes.NONE, target));
    }

    ReadLink.Results readLink(FileHandle link) {
        return export.readLink(who, new ReadLink.Arguments(link));
    }

    ChangeResults remove(FileHandle directory, String name) {
        return export.remove(who, new Remove.Arguments(directory, FileName.of(name)));
    }

    ChangeResults rmDir(FileHandle directory, String name) {
        return export.rmDir(who, new RmDir.Arguments(directory, FileName.of(name)));
    }

    Rename.Results rename(FileHandle from, String fromName, FileHandle to, String toName) {
        return export.rename(who, new Rename.Arguments(from, FileName.of(fromName), to, FileName.of(toName)));
    }

    Link.Results link(FileHandle file, FileHandle directory, String name) {
        return export.link(who, new Link.Arguments(file, directory, FileName.of(name)));
    }

    ChangeResults setAttr(FileHandle file, SetAttributes attributes) {
        return export.setAttr(who, new SetAttr.Arguments(file, attributes));
    }

    int access(FileHandle file) {
        Access.Results results = export.access(who, new Access.Arguments(file, 0x3f));
        assertThat(results).isInstanceOf(Access.Ok.class);
        return ((Access.Ok) results).access();
    }

    Status write(FileHandle file, String text, long offset) throws IOException {
        try (OpenFile open = export.open(who, file, OpenMode.WRITE)) {
            open.channel().write(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)), offset);
            return Status.OK;
        } catch (NfsException e) {
            return e.status();
        }
    }

    String read(FileHandle file) throws IOException {
        try (OpenFile open = export.open(who, file, OpenMode.READ)) {
            ByteBuffer bytes = ByteBuffer.allocate((int) open.sizeAtOpening());
            while (bytes.hasRemaining() && open.channel().read(bytes, bytes.position()) >= 0) {
                // On.
            }
            return new String(bytes.array(), StandardCharsets.UTF_8);
        }
    }

    Status statusOfOpening(FileHandle file, OpenMode mode) {
        try (OpenFile open = export.open(who, file, mode)) {
            assertThat(open.channel().isOpen()).isTrue();
            return Status.OK;
        } catch (NfsException e) {
            return e.status();
        }
    }

    ReadDir.Ok readDir(FileHandle directory, long cookie, long count) {
        ReadDir.Results results =
                export.readDir(who, new ReadDir.Arguments(directory, cookie, CookieVerifier.NONE, count));
        assertThat(results).isInstanceOf(ReadDir.Ok.class);
        return (ReadDir.Ok) results;
    }

    ReadDirPlus.Results readDirPlus(FileHandle directory, long cookie, long directoryCount, long maxCount) {
        return export.readDirPlus(
                who, new ReadDirPlus.Arguments(directory, cookie, CookieVerifier.NONE, directoryCount, maxCount));
    }

    /** All entries, without dots, in the order in which they come. */
    List<ReadDirPlus.Entry> list(FileHandle directory, long maxCount) {
        List<ReadDirPlus.Entry> all = new ArrayList<>();
        long cookie = 0;
        while (true) {
            ReadDirPlus.Results results = readDirPlus(directory, cookie, maxCount, maxCount);
            assertThat(results).isInstanceOf(ReadDirPlus.Ok.class);
            ReadDirPlus.Ok page = (ReadDirPlus.Ok) results;
            for (ReadDirPlus.Entry entry : page.entries()) {
                cookie = entry.cookie();
                if (!entry.name().isDots()) {
                    all.add(entry);
                }
            }
            if (page.endOfDirectory()) {
                return all;
            }
        }
    }
}
