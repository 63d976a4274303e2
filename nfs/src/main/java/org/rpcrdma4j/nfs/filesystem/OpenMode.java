// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.filesystem;

import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.StandardOpenOption;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;

/** How a file is to be opened. */
record OpenMode(
        boolean read,
        boolean write,
        boolean append,
        boolean truncate,
        boolean create,
        boolean createNew,
        boolean deleteOnClose,
        boolean sync,
        boolean follow) {

    /**
     * Reads the options as {@link java.nio.file.Files#newByteChannel} describes them.
     *
     * @throws UnsupportedOperationException if one is unknown
     * @throws IllegalArgumentException if they contradict each other
     */
    static OpenMode of(Set<? extends OpenOption> options) {
        Set<StandardOpenOption> all = EnumSet.noneOf(StandardOpenOption.class);
        boolean follow = true;
        for (OpenOption option : options) {
            if (Objects.requireNonNull(option) instanceof StandardOpenOption standard) {
                all.add(standard);
            } else if (option == LinkOption.NOFOLLOW_LINKS) {
                follow = false;
            } else {
                throw new UnsupportedOperationException("cannot open a file with " + option);
            }
        }
        boolean append = all.contains(StandardOpenOption.APPEND);
        boolean write = append || all.contains(StandardOpenOption.WRITE);
        boolean read = all.contains(StandardOpenOption.READ) || !write;
        boolean truncate = all.contains(StandardOpenOption.TRUNCATE_EXISTING);
        if (append && (read || truncate)) {
            throw new IllegalArgumentException("APPEND goes neither with READ nor with TRUNCATE_EXISTING");
        }
        return new OpenMode(
                read,
                write,
                append,
                write && truncate,
                write && all.contains(StandardOpenOption.CREATE),
                write && all.contains(StandardOpenOption.CREATE_NEW),
                all.contains(StandardOpenOption.DELETE_ON_CLOSE),
                all.contains(StandardOpenOption.SYNC) || all.contains(StandardOpenOption.DSYNC),
                follow);
    }
}
