// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.StringTokenizer;
import org.rpcrdma4j.transport.rpc.Credential;

/** The user that this process runs as, as AUTH_SYS tells it. */
final class LocalUser {

    private static final int NOBODY = 65534;
    private static final Path STATUS = Path.of("/proc/self/status");

    private LocalUser() {}

    /** User, group and further groups from the kernel; nobody if they can't be had. */
    static Credential credential() {
        List<Integer> users = List.of(NOBODY);
        List<Integer> groups = List.of(NOBODY);
        List<Integer> further = List.of();
        try {
            for (String line : Files.readAllLines(STATUS)) {
                if (line.startsWith("Uid:")) {
                    users = numbers(line);
                } else if (line.startsWith("Gid:")) {
                    groups = numbers(line);
                } else if (line.startsWith("Groups:")) {
                    further = numbers(line);
                }
            }
        } catch (IOException e) {
            System.getLogger(LocalUser.class.getName()).log(System.Logger.Level.DEBUG, "no " + STATUS, e);
        }
        // Real, effective, saved and of the file system, in this order; effective counts.
        int user = users.size() > 1 ? users.get(1) : users.getFirst();
        int group = groups.size() > 1 ? groups.get(1) : groups.getFirst();
        int count = Math.min(further.size(), Credential.Sys.MAX_GROUPS);
        return new Credential.Sys(0, "rpcrdma4j", user, group, further.subList(0, count));
    }

    private static List<Integer> numbers(String line) {
        List<Integer> numbers = new ArrayList<>();
        StringTokenizer words = new StringTokenizer(line.substring(line.indexOf(':') + 1));
        while (words.hasMoreTokens()) {
            numbers.add(Integer.parseUnsignedInt(words.nextToken()));
        }
        return numbers;
    }
}
