// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.filesystem;

import java.io.IOException;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.UserPrincipal;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.SetAttributes;
import org.rpcrdma4j.nfs.protocol.SetTime;
import org.rpcrdma4j.nfs.protocol.Time;

/**
 * A file's attributes to be read and set: all of the views "basic", "owner" and "posix" in one.
 *
 * @param name the view's
 * @param follow whether a symbolic link at the end stands for its target
 */
record NfsAttributeView(String name, NfsFilePath path, boolean follow) implements PosixFileAttributeView {

    @Override
    public NfsFileAttributes readAttributes() throws IOException {
        return Failures.about(
                path, () -> new NfsFileAttributes(path.getFileSystem().volume().attributes(path.location(), follow)));
    }

    void set(SetAttributes attributes) throws IOException {
        Failures.doing(path, () -> {
            var _ = path.getFileSystem().volume().setAttributes(path.location(), attributes, follow);
        });
    }

    /** The time of creation is left out: NFS version 3 has none. */
    @Override
    public void setTimes(
            @Nullable FileTime lastModifiedTime, @Nullable FileTime lastAccessTime, @Nullable FileTime createTime)
            throws IOException {
        if (lastModifiedTime != null || lastAccessTime != null) {
            set(SetAttributes.NONE.withTimes(setTime(lastAccessTime), setTime(lastModifiedTime)));
        }
    }

    static SetTime setTime(@Nullable FileTime time) {
        return time == null ? SetTime.Keep.INSTANCE : new SetTime.To(Time.of(time.toInstant()));
    }

    @Override
    public void setPermissions(Set<PosixFilePermission> permissions) throws IOException {
        set(SetAttributes.NONE.withMode(FileMode.bits(permissions)));
    }

    @Override
    public UserPrincipal getOwner() throws IOException {
        return readAttributes().owner();
    }

    @Override
    public void setOwner(UserPrincipal owner) throws IOException {
        set(SetAttributes.NONE.withUid(NfsPrincipal.number(owner, NfsPrincipal.Kind.USER)));
    }

    @Override
    public void setGroup(GroupPrincipal group) throws IOException {
        set(SetAttributes.NONE.withGid(NfsPrincipal.number(group, NfsPrincipal.Kind.GROUP)));
    }
}
