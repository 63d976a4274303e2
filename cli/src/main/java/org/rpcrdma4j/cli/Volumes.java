// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.client.MountOptions;
import org.rpcrdma4j.nfs.client.NfsPath;
import org.rpcrdma4j.nfs.client.NfsUrl;
import org.rpcrdma4j.nfs.client.NfsVolume;
import org.rpcrdma4j.verbs.RdmaDevice;

/** The volumes that a command has mounted, and the device below them. Used by one thread; what it mounts may be used by all. */
public final class Volumes implements AutoCloseable {
    private final Predicate<NfsUrl> isTcp;
    private final Supplier<RdmaDevice> device;
    private final Function<@Nullable RdmaDevice, MountOptions> options;
    private final @Nullable PrintWriter statistics;
    /** By the directory of the URL that each was mounted for: what is beside it is taken to be in the same export. */
    private final Map<NfsUrl, NfsVolume> mounted = new LinkedHashMap<>();

    private @Nullable RdmaDevice opened;

    /** @param statistics where to print what the transport did with each volume, before it is closed, and what is left registered after all */
    Volumes(
            Predicate<NfsUrl> isTcp,
            Supplier<RdmaDevice> device,
            Function<@Nullable RdmaDevice, MountOptions> options,
            @Nullable PrintWriter statistics) {
        this.isTcp = isTcp;
        this.device = device;
        this.options = options;
        this.statistics = statistics;
    }

    /**
     * Where a URL leads.
     *
     * @param volume the mounted export, which stays with {@link Volumes}
     * @param path the path in it
     * @param url the URL, as it was given
     */
    public record Place(NfsVolume volume, NfsPath path, NfsUrl url) {}

    /** Finds a URL's place; mounts its export if need be. */
    public Place at(NfsUrl url) throws IOException {
        NfsPath parent = url.path().parent();
        NfsUrl directory = url.withPath(parent == null ? NfsPath.ROOT : parent);
        NfsVolume volume = mounted.get(directory);
        if (volume == null || !url.path().startsWith(volume.export().path())) {
            volume = NfsVolume.mount(url, options.apply(isTcp.test(url) ? null : device()));
            NfsVolume before = mounted.put(directory, volume);
            if (before != null) {
                close(before);
            }
        }
        return new Place(volume, volume.pathOf(url), url);
    }

    private RdmaDevice device() {
        RdmaDevice known = opened;
        if (known == null) {
            known = device.get();
            opened = known;
        }
        return known;
    }

    /** Unmounts everything and closes the device. */
    @Override
    public void close() {
        try {
            mounted.values().forEach(this::close);
        } finally {
            mounted.clear();
            RdmaDevice last = opened;
            opened = null;
            if (last != null) {
                printLedger(last);
                last.close();
            }
        }
    }

    /** ORDER: before the device is closed, which gives back whatever was forgotten. */
    private void printLedger(RdmaDevice last) {
        PrintWriter to = statistics;
        if (to != null) {
            TransportStatistics.print(to, last.ledger());
        }
    }

    private void close(NfsVolume volume) {
        PrintWriter to = statistics;
        if (to != null) {
            TransportStatistics.print(to, volume);
        }
        volume.close();
    }
}
