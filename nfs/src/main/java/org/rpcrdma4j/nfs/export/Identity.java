// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import java.util.List;

/**
 * Whom a call acts as, after {@link Squash}; from {@link Export#identify}.
 *
 * @param uid user, unsigned
 * @param gid group, unsigned
 * @param groups further groups, unsigned
 */
public record Identity(int uid, int gid, List<Integer> groups) {

    /** The superuser. */
    public static final Identity ROOT = new Identity(0, 0, List.of());

    /** Keeps a copy of the list. */
    public Identity {
        groups = List.copyOf(groups);
    }

    /** Whether it is user 0. */
    public boolean isRoot() {
        return uid == 0;
    }

    /** Whether it belongs to the group. */
    public boolean isIn(int group) {
        return gid == group || groups.contains(group);
    }
}
