// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.CookieVerifier;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.GetAttr;
import org.rpcrdma4j.nfs.protocol.Lookup;
import org.rpcrdma4j.nfs.protocol.NfsException;
import org.rpcrdma4j.nfs.protocol.ReadDir;
import org.rpcrdma4j.nfs.protocol.ReadDirPlus;
import org.rpcrdma4j.nfs.protocol.Status;

/**
 * The entries of a directory, one after the other as the server sends them; {@code .} and {@code ..} are left out. Entries that come or go
 * meanwhile may be there or not. One page is asked for ahead. Used by one thread.
 */
public final class NfsListing implements AutoCloseable {

    /** A directory of more pages is taken for a listing without end: tens of millions of entries. */
    private static final int MAX_PAGES = 1 << 20;

    private final NfsClient client;
    private final NfsFile directory;
    private final String subject;
    private final int pageBytes;
    private final int maxPages;
    private final Deque<NfsEntry> page = new ArrayDeque<>();
    /** Where pages began. A cookie that comes again leads round in a circle. */
    private final Set<Long> seen = new HashSet<>();

    private boolean plus = true;
    private boolean ended;
    private long cookie;
    private CookieVerifier verifier = CookieVerifier.NONE;
    private @Nullable CompletableFuture<NfsReply<ReadDirPlus.Results>> ahead;

    NfsListing(NfsClient client, NfsFile directory, String subject, int pageBytes) {
        this(client, directory, subject, pageBytes, MAX_PAGES);
    }

    NfsListing(NfsClient client, NfsFile directory, String subject, int pageBytes, int maxPages) {
        this.maxPages = maxPages;
        this.client = client;
        this.directory = directory;
        this.subject = subject;
        this.pageBytes = pageBytes;
    }

    /** The directory. */
    public NfsFile directory() {
        return directory;
    }

    /**
     * The next entry; null after the last one.
     *
     * @throws IOException if the server refuses, or is not to be had, or sends a listing without end
     */
    public @Nullable NfsEntry next() throws IOException {
        while (page.isEmpty() && !ended) {
            if (plus) {
                readPagePlus();
            } else {
                readPage();
            }
        }
        return page.pollFirst();
    }

    private CompletableFuture<NfsReply<ReadDirPlus.Results>> ask() {
        return client.readDirectoryPlus(
                new ReadDirPlus.Arguments(directory.handle(), cookie, verifier, pageBytes, pageBytes));
    }

    private void readPagePlus() throws IOException {
        CompletableFuture<NfsReply<ReadDirPlus.Results>> asked = ahead == null ? ask() : ahead;
        ahead = null;
        ReadDirPlus.Results results = Waiting.await(asked, "list", subject).results();
        if (!(results instanceof ReadDirPlus.Ok ok)) {
            // RFC 1813, Section 3.3.17: a server need not support READDIRPLUS.
            if (results.status() == Status.NOTSUPP) {
                plus = false;
                return;
            }
            throw new NfsException(results.status(), "list", subject);
        }
        long last = cookie;
        for (ReadDirPlus.Entry entry : ok.entries()) {
            last = entry.cookie();
            if (!entry.name().isDots()) {
                page.add(new NfsEntry(entry.name(), entry.fileId(), entry.file(), entry.attributes()));
            }
        }
        turn(last, ok.entries().isEmpty(), ok.cookieVerifier(), ok.endOfDirectory());
        if (!ended) {
            ahead = ask();
        }
        complete();
    }

    private void readPage() throws IOException {
        ReadDir.Results results = Waiting.await(
                        client.readDirectory(new ReadDir.Arguments(directory.handle(), cookie, verifier, pageBytes)),
                        "list",
                        subject)
                .results();
        if (!(results instanceof ReadDir.Ok ok)) {
            throw new NfsException(results.status(), "list", subject);
        }
        long last = cookie;
        for (ReadDir.Entry entry : ok.entries()) {
            last = entry.cookie();
            if (!entry.name().isDots()) {
                page.add(new NfsEntry(entry.name(), entry.fileId(), null, null));
            }
        }
        turn(last, ok.entries().isEmpty(), ok.cookieVerifier(), ok.endOfDirectory());
        complete();
    }

    /** Goes on to the next page. The server's cookies are not trusted to lead to an end. */
    private void turn(long last, boolean isEmpty, CookieVerifier newVerifier, boolean isEnd) throws IOException {
        for (NfsEntry entry : page) {
            if (!entry.name().isPlain()) {
                throw new CallFailedException(
                        "list", subject, "the server sent \"" + entry.name() + "\", which is no name");
            }
        }
        if (isEnd) {
            ended = true;
            return;
        }
        if (isEmpty || last == 0 || !seen.add(last)) {
            throw new CallFailedException("list", subject, "the server's listing goes round in a circle");
        }
        if (seen.size() > maxPages) {
            throw new CallFailedException("list", subject, "the server's listing has no end");
        }
        cookie = last;
        verifier = newVerifier;
    }

    /** Looks up what the server did not tell; all names at once. An entry that is gone by then is left out. */
    private void complete() throws IOException {
        List<NfsEntry> all = List.copyOf(page);
        List<@Nullable CompletableFuture<NfsReply<Lookup.Results>>> lookups = new ArrayList<>(all.size());
        for (NfsEntry entry : all) {
            boolean isWhole = entry.handle() != null && entry.attributes() != null;
            lookups.add(isWhole ? null : client.lookup(new Lookup.Arguments(directory.handle(), entry.name())));
        }
        page.clear();
        for (int i = 0; i < all.size(); i++) {
            CompletableFuture<NfsReply<Lookup.Results>> lookup = lookups.get(i);
            NfsEntry whole = lookup == null ? all.get(i) : completed(all.get(i), lookup);
            if (whole != null) {
                page.add(whole);
            }
        }
    }

    private @Nullable NfsEntry completed(NfsEntry entry, CompletableFuture<NfsReply<Lookup.Results>> lookup)
            throws IOException {
        String name = subject + "/" + entry.name();
        Lookup.Results results = Waiting.await(lookup, "list", name).results();
        if (results instanceof Lookup.Ok ok) {
            Attributes attributes = ok.attributes() == null ? entry.attributes() : ok.attributes();
            if (attributes == null) {
                attributes = attributes(ok.file(), name);
            }
            return attributes == null ? null : new NfsEntry(entry.name(), entry.fileId(), ok.file(), attributes);
        }
        return switch (results.status()) {
            case NOENT, STALE -> null;
            case ACCES, PERM -> new NfsEntry(entry.name(), entry.fileId(), null, null);
            default -> throw new NfsException(results.status(), "list", name);
        };
    }

    private @Nullable Attributes attributes(FileHandle file, String name) throws IOException {
        GetAttr.Results results = Waiting.await(client.getAttributes(new GetAttr.Arguments(file)), "list", name)
                .results();
        if (results instanceof GetAttr.Ok ok) {
            return ok.attributes();
        }
        if (results.status() == Status.NOENT || results.status() == Status.STALE) {
            return null;
        }
        throw new NfsException(results.status(), "list", name);
    }

    /** Gives up what is in flight. */
    @Override
    public void close() {
        ended = true;
        page.clear();
        CompletableFuture<NfsReply<ReadDirPlus.Results>> asked = ahead;
        ahead = null;
        if (asked != null) {
            asked.cancel(false);
        }
    }
}
