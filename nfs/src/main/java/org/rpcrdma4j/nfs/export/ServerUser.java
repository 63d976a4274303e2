// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The user that the server runs as.
 *
 * @param identity its numbers
 * @param privileged whether it may act for others: change owners, and read and write whatever the mode bits say
 */
public record ServerUser(Identity identity, boolean privileged) {

    private static final Path STATUS = Path.of("/proc/self/status");

    /**
     * This process's user; privileged if it is root.
     *
     * @throws IOException if {@code /proc} does not tell
     */
    public static ServerUser current() throws IOException {
        int uid = -1;
        int gid = -1;
        List<Integer> groups = new ArrayList<>();
        for (String line : Files.readAllLines(STATUS)) {
            // Real, effective, saved and file system number, in this order.
            String[] fields = line.split("\\s+", -1);
            switch (fields[0]) {
                case "Uid:" -> uid = Integer.parseUnsignedInt(fields[2]);
                case "Gid:" -> gid = Integer.parseUnsignedInt(fields[2]);
                case "Groups:" -> addNumbers(fields, groups);
                default -> {}
            }
        }
        if (uid == -1 || gid == -1) {
            throw new IOException(STATUS + " does not tell the user of this process");
        }
        return new ServerUser(new Identity(uid, gid, groups), uid == 0);
    }

    private static void addNumbers(String[] fields, List<Integer> groups) {
        for (int i = 1; i < fields.length; i++) {
            if (!fields[i].isEmpty()) {
                groups.add(Integer.parseUnsignedInt(fields[i]));
            }
        }
    }

    /** The same numbers without the privileges of root. */
    public ServerUser unprivileged() {
        return new ServerUser(identity, false);
    }
}
