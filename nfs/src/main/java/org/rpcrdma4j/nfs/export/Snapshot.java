// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.rpcrdma4j.nfs.protocol.FileName;

/**
 * Names of a directory in the order of their cookies, as they were at one moment: all of them, or, of a directory that is too large, so many from a
 * cookie on.
 *
 * <p>A cookie is made of a hash of the name, so that it is the same whatever else is in the directory, and after a restart: who goes on behind a cookie
 * gets everything that was there all the time, once. Bits 62 to 8 are the hash, bits 7 to 0 count names of the same hash, in the order of the names; only
 * if one of those is removed between two calls may another one be missed. Cookies 1 and 2 are {@code .} and {@code ..}.
 *
 * @param after the names have cookies beyond this
 * @param items in order
 * @param isComplete whether no names follow
 */
record Snapshot(long after, List<Item> items, boolean isComplete) {

    static final long DOT_COOKIE = 1;
    static final long DOT_DOT_COOKIE = 2;

    private static final int TIES = 0xff;

    /** One name. */
    record Item(long cookie, FileName name) {}

    private static final Comparator<Item> ORDER =
            Comparator.comparingLong(Item::cookie).thenComparing(Item::name);

    /**
     * Reads a directory.
     *
     * @param after a cookie
     * @param most how many names are kept; twice as many for a moment
     */
    static Snapshot read(Path directory, long after, int most) throws IOException {
        List<Item> kept = new ArrayList<>();
        long least = after & ~TIES;
        boolean isComplete = true;
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
            for (Path entry : entries) {
                FileName name = Names.nameOf(entry);
                long cookie = hash(name);
                if (cookie < least) {
                    continue;
                }
                kept.add(new Item(cookie, name));
                if (kept.size() >= 2L * most) {
                    isComplete = false;
                    kept = firstOf(kept, most);
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        if (kept.size() > most) {
            isComplete = false;
        }
        List<Item> items = number(firstOf(kept, most));
        items.removeIf(item -> item.cookie <= after);
        return new Snapshot(after, items, isComplete);
    }

    private static List<Item> firstOf(List<Item> items, int most) {
        items.sort(ORDER);
        return items.size() <= most ? items : new ArrayList<>(items.subList(0, most));
    }

    /** Tells names of the same hash apart. */
    private static List<Item> number(List<Item> sorted) {
        List<Item> numbered = new ArrayList<>(sorted.size());
        long before = 0;
        int ties = 0;
        for (Item item : sorted) {
            ties = item.cookie == before ? Math.min(ties + 1, TIES) : 0;
            before = item.cookie;
            numbered.add(ties == 0 ? item : new Item(item.cookie | ties, item.name));
        }
        return numbered;
    }

    /** 55 bits, well mixed, with room for ties; not below 256. */
    static long hash(FileName name) {
        long hash = 0xcbf29ce484222325L;
        for (int i = 0; i < name.length(); i++) {
            hash = (hash ^ (name.byteAt(i) & 0xff)) * 0x100000001b3L;
        }
        hash = (hash ^ (hash >>> 32)) * 0xd6e8feb86659fd93L;
        hash = (hash ^ (hash >>> 32)) * 0xd6e8feb86659fd93L;
        hash ^= hash >>> 32;
        return Math.max((hash >>> 1) & ~(long) TIES, TIES + 1);
    }

    /** Whether it tells what follows a cookie. */
    boolean covers(long cookie) {
        return cookie >= after && (isComplete || (!items.isEmpty() && cookie < items.getLast().cookie));
    }

    /** Index of the first item beyond a cookie. */
    int indexAfter(long cookie) {
        int low = 0;
        int high = items.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (items.get(middle).cookie <= cookie) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
