// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.filesystem;

import java.nio.file.ProviderMismatchException;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.UserPrincipal;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.nio.file.attribute.UserPrincipalNotFoundException;

/**
 * A user or a group by number, which is all that NFS version 3 tells; its name is the number.
 *
 * @param id unsigned
 */
record NfsPrincipal(Kind kind, int id) implements GroupPrincipal {

    enum Kind {
        USER,
        GROUP
    }

    static NfsPrincipal user(int uid) {
        return new NfsPrincipal(Kind.USER, uid);
    }

    static NfsPrincipal group(int gid) {
        return new NfsPrincipal(Kind.GROUP, gid);
    }

    /** The number of a principal, which must be this provider's, and of the kind that is wanted. */
    static int number(UserPrincipal principal, Kind wanted) {
        if (principal instanceof NfsPrincipal own && own.kind == wanted) {
            return own.id;
        }
        throw new ProviderMismatchException(
                "not a " + wanted.name().toLowerCase(java.util.Locale.ROOT) + " of the nfs provider: " + principal);
    }

    @Override
    public String getName() {
        return Integer.toUnsignedString(id);
    }

    @Override
    public String toString() {
        return getName();
    }

    /** Finds principals by numbers. */
    static final class Lookup extends UserPrincipalLookupService {

        @Override
        public UserPrincipal lookupPrincipalByName(String name) throws UserPrincipalNotFoundException {
            return user(parse(name));
        }

        @Override
        public GroupPrincipal lookupPrincipalByGroupName(String group) throws UserPrincipalNotFoundException {
            return group(parse(group));
        }

        private static int parse(String name) throws UserPrincipalNotFoundException {
            try {
                return Integer.parseUnsignedInt(name);
            } catch (NumberFormatException _) {
                throw new UserPrincipalNotFoundException(name);
            }
        }
    }
}
