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

    /**
     * Keeps a copy of the list.
     *
     * @throws IllegalArgumentException if user or group is 2^32 - 1, which is nobody: to chown(2) it means that the owner stays
     */
    public Identity {
        if (uid == -1 || gid == -1) {
            throw new IllegalArgumentException("uid " + uid + ", gid " + gid + ": -1 is nobody");
        }
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
