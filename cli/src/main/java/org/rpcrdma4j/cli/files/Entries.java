// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.files;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.client.NfsEntry;
import org.rpcrdma4j.nfs.client.NfsListing;
import org.rpcrdma4j.nfs.client.NfsPath;
import org.rpcrdma4j.nfs.client.NfsVolume;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.PathBytes;

/** Reads directories. */
public final class Entries {
    private Entries() {}

    /** All entries, sorted by the bytes of their names; those whose name begins with a dot only if asked for. */
    public static List<NfsEntry> read(NfsVolume volume, NfsPath directory, boolean hidden) throws IOException {
        List<NfsEntry> entries = new ArrayList<>();
        try (NfsListing listing = volume.list(directory)) {
            for (NfsEntry entry = listing.next(); entry != null; entry = listing.next()) {
                if (hidden || entry.name().length() == 0 || entry.name().byteAt(0) != '.') {
                    entries.add(entry);
                }
            }
        }
        entries.sort(Comparator.comparing(NfsEntry::name));
        return entries;
    }

    /** What the symbolic links among the entries say; those that can't be read are left out. */
    public static Map<FileName, PathBytes> targets(NfsVolume volume, NfsPath directory, List<NfsEntry> entries) {
        List<FileName> links = new ArrayList<>();
        for (NfsEntry entry : entries) {
            Attributes attributes = entry.attributes();
            if (attributes != null && attributes.isSymbolicLink()) {
                links.add(entry.name());
            }
        }
        Map<FileName, PathBytes> targets = new HashMap<>();
        Parallel.forEach(
                links,
                link -> {
                    PathBytes target = volume.readLink(directory.resolve(link));
                    synchronized (targets) {
                        targets.put(link, target);
                    }
                },
                (link, failure) -> System.getLogger(Entries.class.getName())
                        .log(System.Logger.Level.DEBUG, "link not read", failure));
        return targets;
    }

    /** An entry's attributes, from the server if the listing has none. */
    static Attributes attributes(NfsVolume volume, NfsPath directory, NfsEntry entry) throws IOException {
        @Nullable Attributes known = entry.attributes();
        return known != null ? known : volume.attributes(directory.resolve(entry.name()), false);
    }
}
