// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.rpcrdma4j.nfs.protocol.Access;
import org.rpcrdma4j.nfs.protocol.Status;
import org.rpcrdma4j.transport.rpc.Credential;

/**
 * Who may do what, by the mode bits; access control lists are not looked at. Where the server is not privileged every caller is its own user, and the
 * kernel checks: then these checks pass, and only {@link #access} tells what to expect.
 */
final class Permissions {

    static final int READ = 4;
    static final int WRITE = 2;
    static final int EXECUTE = 1;

    private static final int GROUP_EXECUTE = 010;

    private final ExportOptions options;
    private final ServerUser user;

    Permissions(ExportOptions options, ServerUser user) {
        this.options = options;
        this.user = user;
    }

    boolean isPrivileged() {
        return user.privileged();
    }

    /** RFC 1813, Section 4.4: whom a caller acts as. */
    Identity identify(Credential credential, BooleanSupplier isLocalRoot) {
        if (!user.privileged()) {
            return user.identity();
        }
        if (!(credential instanceof Credential.Sys sys) || options.squash() == Squash.ALL) {
            return options.anonymous();
        }
        Identity anonymous = options.anonymous();
        if (sys.user() == -1 || sys.group() == -1) {
            // To system calls -1 means that an owner stays: what such a caller makes would be the server's own.
            return anonymous;
        }
        if (!claimsRoot(sys)
                || options.squash() == Squash.NONE
                || (options.squash() == Squash.ROOT && isLocalRoot.getAsBoolean())) {
            return new Identity(sys.user(), sys.group(), sys.groups());
        }
        if (sys.user() == 0) {
            return anonymous;
        }
        List<Integer> groups = new ArrayList<>(sys.groups().size());
        for (int group : sys.groups()) {
            groups.add(group == 0 ? anonymous.gid() : group);
        }
        return new Identity(sys.user(), sys.group() == 0 ? anonymous.gid() : sys.group(), groups);
    }

    private static boolean claimsRoot(Credential.Sys sys) {
        return sys.user() == 0 || sys.group() == 0 || sys.groups().contains(0);
    }

    /** Refuses changes of a read-only export. */
    void requireWritable() throws Refusal {
        if (options.readOnly()) {
            throw new Refusal(Status.ROFS);
        }
    }

    /** Whether the mode bits allow all of it. Root may do everything but execute what nobody may. */
    private static boolean allows(Identity who, FileStatus file, int wanted) {
        if (who.isRoot()) {
            return wanted != EXECUTE || file.isDirectory() || (file.mode() & 0111) != 0;
        }
        int bits;
        if (who.uid() == file.uid()) {
            bits = file.mode() >> 6;
        } else if (who.isIn(file.gid())) {
            bits = file.mode() >> 3;
        } else {
            bits = file.mode();
        }
        return (bits & wanted) == wanted;
    }

    void require(Identity who, FileStatus file, int wanted) throws Refusal {
        if (user.privileged() && !allows(who, file, wanted)) {
            throw new Refusal(Status.ACCES);
        }
    }

    /** Whether names may be looked up in a directory. */
    boolean maySearch(Identity who, FileStatus directory) {
        return !user.privileged() || allows(who, directory, EXECUTE);
    }

    /** To look up names in a directory. */
    void requireSearch(Identity who, FileStatus directory) throws Refusal {
        require(who, directory, EXECUTE);
    }

    /** To add entries to a directory. */
    void requireAdd(Identity who, FileStatus directory) throws Refusal {
        requireWritable();
        require(who, directory, WRITE | EXECUTE);
    }

    /** To take an entry out of a directory: if that is sticky, only the owner of either may. */
    void requireDelete(Identity who, FileStatus directory, FileStatus entry) throws Refusal {
        requireAdd(who, directory);
        if (user.privileged()
                && (directory.mode() & FileStatus.STICKY) != 0
                && !isOwner(who, directory)
                && !isOwner(who, entry)) {
            throw new Refusal(Status.PERM);
        }
    }

    /** To read a file. RFC 1813, Section 4.4: its owner may in any case, and who may execute it, for clients have opened it before. */
    void requireRead(Identity who, FileStatus file) throws Refusal {
        if (user.privileged() && who.uid() != file.uid() && !allows(who, file, READ) && !allows(who, file, EXECUTE)) {
            throw new Refusal(Status.ACCES);
        }
    }

    /** To write a file. RFC 1813, Section 4.4: its owner may in any case. */
    void requireWrite(Identity who, FileStatus file) throws Refusal {
        requireWritable();
        if (who.uid() != file.uid()) {
            require(who, file, WRITE);
        }
    }

    boolean isOwner(Identity who, FileStatus file) {
        return !user.privileged() || who.isRoot() || who.uid() == file.uid();
    }

    /** For what only the owner may do. */
    void requireOwner(Identity who, FileStatus file) throws Refusal {
        requireWritable();
        if (!isOwner(who, file)) {
            throw new Refusal(Status.PERM);
        }
    }

    /**
     * To give a file that somebody else owns another name: as Linux with protected_hardlinks, only what the caller could read and write, and nothing
     * that gives rights to who executes it.
     */
    void requireLink(Identity who, FileStatus file) throws Refusal {
        if (isOwner(who, file)) {
            return;
        }
        boolean givesRights = (file.mode() & FileStatus.SET_UID) != 0
                || (file.mode() & (FileStatus.SET_GID | GROUP_EXECUTE)) == (FileStatus.SET_GID | GROUP_EXECUTE);
        if (!file.isRegular() || givesRights || !allows(who, file, READ | WRITE)) {
            throw new Refusal(Status.PERM);
        }
    }

    /** What becomes of mode bits that the caller wants: only members give the rights of a group. */
    int permitted(Identity who, int mode, int group) {
        int bits = mode & FileStatus.MODE_BITS;
        boolean mayGive = !user.privileged() || who.isRoot() || who.isIn(group);
        return mayGive ? bits : bits & ~FileStatus.SET_GID;
    }

    /** Bits that go when somebody else than root writes to the file or changes its size; 0 for none. */
    int bitsToClear(Identity who, FileStatus file) {
        if (!user.privileged() || who.isRoot()) {
            // The kernel clears them itself for a user without privileges.
            return 0;
        }
        int clear = file.mode() & FileStatus.SET_UID;
        if ((file.mode() & GROUP_EXECUTE) != 0) {
            clear |= file.mode() & FileStatus.SET_GID;
        }
        return clear;
    }

    /** RFC 1813, Section 3.3.4: the bits of ACCESS. */
    int access(Identity who, FileStatus file, int wanted) {
        int granted = 0;
        if (allows(who, file, READ)) {
            granted |= Access.READ;
        }
        if (allows(who, file, EXECUTE)) {
            granted |= file.isDirectory() ? Access.LOOKUP : Access.EXECUTE;
        }
        boolean isChangeable = !options.readOnly() && allows(who, file, WRITE);
        if (isChangeable && file.isDirectory()) {
            granted |= Access.MODIFY | Access.EXTEND | Access.DELETE;
        } else if (isChangeable) {
            granted |= Access.MODIFY | Access.EXTEND;
        }
        return granted & wanted;
    }
}
