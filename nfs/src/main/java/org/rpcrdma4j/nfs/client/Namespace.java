// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import static org.rpcrdma4j.nfs.client.Waiting.await;

import java.io.IOException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.client.PathWalk.Place;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.ChangeResults;
import org.rpcrdma4j.nfs.protocol.Create;
import org.rpcrdma4j.nfs.protocol.CreateResults;
import org.rpcrdma4j.nfs.protocol.Link;
import org.rpcrdma4j.nfs.protocol.MkDir;
import org.rpcrdma4j.nfs.protocol.NfsException;
import org.rpcrdma4j.nfs.protocol.PathBytes;
import org.rpcrdma4j.nfs.protocol.Remove;
import org.rpcrdma4j.nfs.protocol.Rename;
import org.rpcrdma4j.nfs.protocol.RmDir;
import org.rpcrdma4j.nfs.protocol.SetAttr;
import org.rpcrdma4j.nfs.protocol.SetAttributes;
import org.rpcrdma4j.nfs.protocol.SetTime;
import org.rpcrdma4j.nfs.protocol.Status;
import org.rpcrdma4j.nfs.protocol.SymLink;

/**
 * The operations that change names.
 *
 * <p>A call that was sent again after a connection was lost may have been done the first time, and then be answered with NFS3ERR_EXIST or
 * NFS3ERR_NOENT by a server that keeps no replies, or was restarted. Each operation then looks whether what it wanted is there.
 */
final class Namespace {

    private final NfsClient client;
    private final PathWalk walk;
    private final Function<NfsPath, String> display;

    Namespace(NfsClient client, PathWalk walk, Function<NfsPath, String> display) {
        this.client = client;
        this.walk = walk;
        this.display = display;
    }

    NfsFile createFile(NfsPath path, CreateMode mode, SetAttributes attributes) throws IOException {
        Place place = walk.place(path, "create");
        return mode == CreateMode.NEW ? createNew(place, attributes) : createOrTake(place, attributes);
    }

    private NfsFile createNew(Place place, SetAttributes attributes) throws IOException {
        long verifier = ThreadLocalRandom.current().nextLong();
        NfsReply<CreateResults> reply = create(place, new Create.Exclusive(verifier));
        if (reply.results().status() == Status.NOTSUPP) {
            return createGuarded(place, attributes);
        }
        NfsFile file = created(reply, place, "create");
        // RFC 1813, Section 3.3.8: the server may keep the verifier in attributes; SETATTR puts them right.
        SetAttributes all = attributes.modifyTime() instanceof SetTime.Keep
                ? attributes.withTimes(SetTime.Server.INSTANCE, SetTime.Server.INSTANCE)
                : attributes;
        return new NfsFile(file.path(), file.handle(), setAttributes(file, all, "create"));
    }

    /** RFC 1813, Section 3.3.8: a server need not support EXCLUSIVE. */
    private NfsFile createGuarded(Place place, SetAttributes attributes) throws IOException {
        NfsReply<CreateResults> reply = create(place, new Create.Guarded(attributes));
        if (reply.results().status() == Status.EXIST && reply.mayBeRepeated()) {
            NfsFile there = lookup(place, "create");
            if (there.attributes().isRegular() && there.attributes().size() == 0) {
                return there;
            }
        }
        return created(reply, place, "create");
    }

    private NfsFile createOrTake(Place place, SetAttributes attributes) throws IOException {
        NfsReply<CreateResults> reply = create(place, new Create.Unchecked(attributes));
        // What servers do about a link or a directory of that name differs: some say EXIST, some say OK and give it.
        NfsFile file =
                reply.results().status() == Status.EXIST ? lookup(place, "create") : created(reply, place, "create");
        if (file.attributes().isSymbolicLink()) {
            NfsFile target = walk.find(place.path(), true, "create");
            file = new NfsFile(target.path(), target.handle(), setAttributes(target, attributes, "create"));
        }
        if (!file.attributes().isRegular()) {
            Status status = file.attributes().isDirectory() ? Status.ISDIR : Status.EXIST;
            throw new NfsException(status, "create", display.apply(place.path()));
        }
        return file;
    }

    private NfsReply<CreateResults> create(Place place, Create.How how) throws IOException {
        return await(
                client.create(new Create.Arguments(place.handle(), place.name(), how)),
                "create",
                display.apply(place.path()));
    }

    NfsFile createDirectory(NfsPath path, SetAttributes attributes) throws IOException {
        if (path.isRoot()) {
            throw new NfsException(Status.EXIST, "create", display.apply(path));
        }
        Place place = walk.place(path, "create");
        NfsReply<CreateResults> reply = await(
                client.makeDirectory(new MkDir.Arguments(place.handle(), place.name(), attributes)),
                "create",
                display.apply(place.path()));
        if (reply.results().status() == Status.EXIST && reply.mayBeRepeated()) {
            NfsFile there = lookup(place, "create");
            if (there.attributes().isDirectory()) {
                return there;
            }
        }
        return created(reply, place, "create");
    }

    NfsFile createSymbolicLink(NfsPath path, PathBytes target, SetAttributes attributes) throws IOException {
        Place place = walk.place(path, "create");
        NfsReply<CreateResults> reply = await(
                client.symbolicLink(new SymLink.Arguments(place.handle(), place.name(), attributes, target)),
                "create",
                display.apply(place.path()));
        if (reply.results().status() == Status.EXIST && reply.mayBeRepeated()) {
            NfsFile there = lookup(place, "create");
            if (there.attributes().isSymbolicLink()
                    && walk.readLink(there, "create").equals(target)) {
                return there;
            }
        }
        return created(reply, place, "create");
    }

    void createLink(NfsPath path, NfsPath existing) throws IOException {
        NfsFile file = walk.find(existing, false, "link");
        Place place = walk.place(path, "link");
        NfsReply<Link.Results> reply = await(
                client.link(new Link.Arguments(file.handle(), place.handle(), place.name())),
                "link",
                display.apply(place.path()));
        Status status = reply.results().status();
        if (status == Status.EXIST && reply.mayBeRepeated()) {
            Attributes there = lookup(place, "link").attributes();
            Attributes wanted = file.attributes();
            if (there.fileId() == wanted.fileId() && there.fileSystem() == wanted.fileSystem()) {
                return;
            }
        }
        require(status, "link", place.path());
    }

    void remove(NfsPath path) throws IOException {
        Place place = walk.place(path, "remove");
        removed(
                await(
                        client.remove(new Remove.Arguments(place.handle(), place.name())),
                        "remove",
                        display.apply(place.path())),
                place);
    }

    void removeDirectory(NfsPath path) throws IOException {
        Place place = walk.place(path, "remove");
        walk.cache().forget(place.path());
        removed(
                await(
                        client.removeDirectory(new RmDir.Arguments(place.handle(), place.name())),
                        "remove",
                        display.apply(place.path())),
                place);
    }

    private void removed(NfsReply<ChangeResults> reply, Place place) throws NfsException {
        Status status = reply.results().status();
        if (status != Status.NOENT || !reply.mayBeRepeated()) {
            require(status, "remove", place.path());
        }
    }

    void rename(NfsPath from, NfsPath to) throws IOException {
        Place old = walk.place(from, "rename");
        Place next = walk.place(to, "rename");
        NfsReply<Rename.Results> reply;
        try {
            reply = await(
                    client.rename(new Rename.Arguments(old.handle(), old.name(), next.handle(), next.name())),
                    "rename",
                    display.apply(from));
        } finally {
            walk.cache().forget(old.path());
            walk.cache().forget(next.path());
        }
        Status status = reply.results().status();
        if (status == Status.NOENT && reply.mayBeRepeated()) {
            // The old name is gone; it was this call if the new one is there, and if not, this says so.
            lookup(next, "rename");
            return;
        }
        require(status, "rename", from);
    }

    Attributes setAttributes(NfsFile file, SetAttributes attributes, String action) throws IOException {
        ChangeResults results = Waiting.results(
                client.setAttributes(new SetAttr.Arguments(file.handle(), attributes)),
                action,
                display.apply(file.path()));
        Attributes after = results.change().after();
        return after == null ? walk.attributes(file.handle(), file.path(), action) : after;
    }

    private NfsFile lookup(Place place, String action) throws IOException {
        return walk.lookup(place.handle(), place.path(), place.name(), action);
    }

    /** What was made; a server need not tell its handle or attributes (RFC 1813, Section 3.3.8). */
    private NfsFile created(NfsReply<CreateResults> reply, Place place, String action) throws IOException {
        require(reply.results().status(), action, place.path());
        if (!(reply.results() instanceof CreateResults.Ok ok) || ok.file() == null) {
            return lookup(place, action);
        }
        @Nullable Attributes attributes = ok.attributes();
        return new NfsFile(
                place.path(),
                ok.file(),
                attributes == null ? walk.attributes(ok.file(), place.path(), action) : attributes);
    }

    private void require(Status status, String action, NfsPath path) throws NfsException {
        if (status != Status.OK) {
            throw new NfsException(status, action, display.apply(path));
        }
    }
}
