// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.ulb;

/**
 * Sizes of results that stand in where the protocol sets no bound. Only {@link ReplyBound} uses them: what is received may be larger.
 *
 * @param unknownBytes results of a procedure or operation about which nothing else is known; also an ACL
 * @param pathBytes text of a symbolic link (NFSv3, NFSv4)
 * @param ownerBytes name of a user, a group, an address, an algorithm
 */
public record ResultLimits(long unknownBytes, int pathBytes, int ownerBytes) {

    /** 64 KiB for the unknown, 4096 for a path, 1024 for a name. */
    public static final ResultLimits DEFAULT = new ResultLimits(64 << 10, 4096, 1024);

    /** Checks that none is negative. */
    public ResultLimits {
        if (unknownBytes < 0 || pathBytes < 0 || ownerBytes < 0) {
            throw new IllegalArgumentException(
                    "negative size among " + unknownBytes + ", " + pathBytes + ", " + ownerBytes);
        }
    }
}
