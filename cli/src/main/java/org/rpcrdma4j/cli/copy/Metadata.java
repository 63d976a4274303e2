// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.copy;

import java.io.IOException;
import java.util.Objects;
import org.rpcrdma4j.nfs.client.NfsFile;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.SetAttributes;
import org.rpcrdma4j.nfs.protocol.SetTime;

/**
 * What is kept of a file besides its data.
 *
 * @param preserve everything, as far as it is permitted; otherwise the permission bits
 */
record Metadata(boolean preserve) {
    private static final int PERMISSIONS = 0777;
    private static final int ALL_BITS = 07777;

    int mode(Attributes from) {
        return from.mode() & (preserve ? ALL_BITS : PERMISSIONS);
    }

    /** Gives a new file what is to be kept of the old one. */
    void apply(Attributes from, NfsFile to, Side side) throws IOException {
        SetAttributes wanted = isLink(to) ? SetAttributes.NONE : mode(mode(from), to);
        if (!preserve) {
            set(wanted, to, side);
            return;
        }
        wanted = wanted.withTimes(new SetTime.To(from.accessTime()), new SetTime.To(from.modifyTime()));
        if (from.uid() == to.attributes().uid() && from.gid() == to.attributes().gid()) {
            set(wanted, to, side);
            return;
        }
        // With the mode: a change of the owner takes bits of it away.
        SetAttributes all = (isLink(to) ? wanted : wanted.withMode(mode(from)))
                .withUid(from.uid())
                .withGid(from.gid());
        try {
            set(all, to, side);
        } catch (IOException e) {
            if (Thread.currentThread().isInterrupted()) {
                throw e;
            }
            // Only a privileged user may give files away. The bits that act in the owner's name are not for another
            // owner.
            int plain = mode(from) & PERMISSIONS;
            set(isLink(to) ? wanted : wanted.withMode(plain), to, side);
        }
    }

    /** The permission bits alone, for what comes from nowhere. */
    static void applyMode(int mode, NfsFile to, Side side) throws IOException {
        set(mode(mode, to), to, side);
    }

    private static SetAttributes mode(int mode, NfsFile to) {
        return mode == to.attributes().mode() ? SetAttributes.NONE : SetAttributes.NONE.withMode(mode);
    }

    private static boolean isLink(NfsFile file) {
        return file.attributes().isSymbolicLink();
    }

    private static void set(SetAttributes attributes, NfsFile to, Side side) throws IOException {
        if (!Objects.equals(attributes, SetAttributes.NONE)) {
            side.setAttributes(to, attributes);
        }
    }
}
