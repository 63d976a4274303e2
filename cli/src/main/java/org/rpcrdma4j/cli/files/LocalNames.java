// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.files;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Names of users and groups: those of this machine, since the numbers that NFS carries have none. */
public final class LocalNames {
    private final Map<Integer, String> users;
    private final Map<Integer, String> groups;

    /** From files in the form of {@code /etc/passwd} and {@code /etc/group}; what can't be read names nobody. */
    public LocalNames(Path passwd, Path group) {
        users = read(passwd);
        groups = read(group);
    }

    /** This machine's own. */
    public static LocalNames ofThisMachine() {
        return new LocalNames(Path.of("/etc/passwd"), Path.of("/etc/group"));
    }

    /** Nobody has a name. */
    public static LocalNames numbersOnly() {
        return new LocalNames(Path.of("/dev/null"), Path.of("/dev/null"));
    }

    /** The user's name, or the number. */
    public String user(int uid) {
        return users.getOrDefault(uid, Integer.toUnsignedString(uid));
    }

    /** The group's name, or the number. */
    public String group(int gid) {
        return groups.getOrDefault(gid, Integer.toUnsignedString(gid));
    }

    private static Map<Integer, String> read(Path file) {
        Map<Integer, String> names = new HashMap<>();
        List<String> lines;
        try {
            lines = Files.readAllLines(file, StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            System.getLogger(LocalNames.class.getName()).log(System.Logger.Level.DEBUG, "no names", e);
            return names;
        }
        for (String line : lines) {
            String[] fields = line.split(":", 4);
            if (fields.length == 4 && fields[2].matches("\\d{1,9}|[1-3]\\d{9}|4[01]\\d{8}")) {
                names.putIfAbsent(Integer.parseUnsignedInt(fields[2]), fields[0]);
            }
        }
        return names;
    }
}
