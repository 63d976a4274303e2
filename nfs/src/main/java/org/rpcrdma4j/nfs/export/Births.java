// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Whether a file system tells when an inode was made. Java gives the time of the last modification instead if it does not; so where the two
 * differ anywhere, it does. In a file system of which nothing is known yet the question stays open, and handles are made without it.
 */
final class Births {

    /** How many entries are looked at. */
    private static final int SAMPLE = 64;

    private Births() {}

    static boolean areTold(Path root, FileStatus status, String fileSystemType) throws IOException {
        // A file of a lower layer becomes another inode, born later, when it is first written to.
        if (fileSystemType.equals("overlay")) {
            return false;
        }
        return isTold(status) || isToldOfAncestor(root, status.device()) || isToldOfEntry(root);
    }

    private static boolean isToldOfAncestor(Path root, long device) throws IOException {
        for (@Nullable Path path = root.getParent(); path != null; path = path.getParent()) {
            FileStatus status = FileStatus.read(path);
            if (status.device() == device && isTold(status)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isToldOfEntry(Path root) throws IOException {
        int left = SAMPLE;
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(root)) {
            for (Path entry : entries) {
                if (left-- == 0) {
                    return false;
                }
                if (isTold(FileStatus.read(entry))) {
                    return true;
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        } catch (NoSuchFileException e) {
            return false;
        }
        return false;
    }

    private static boolean isTold(FileStatus status) {
        return status.birth() != status.modifyTime().to(TimeUnit.NANOSECONDS);
    }
}
