// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.files;

import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.FileType;

/** The columns of {@code ls -l} before the name, as wide as the widest of a listing needs. Used by one thread. */
public final class LongFormat {
    private static final int OWNER = 2;
    private static final int GROUP = 3;
    private static final int COLUMNS = 5;
    private static final String UNKNOWN = "?";

    private final LocalNames names;
    private final DateTimeFormatter time;
    private final int[] widths = new int[COLUMNS];

    /** For one listing, in which times are those of the zone. */
    public LongFormat(LocalNames names, ZoneId zone) {
        this.names = names;
        time = DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm", Locale.ROOT).withZone(zone);
    }

    /** Makes room for a file; all are measured before the first is written. */
    public void measure(@Nullable Attributes attributes) {
        String[] cells = cells(attributes);
        for (int i = 0; i < COLUMNS; i++) {
            widths[i] = Math.max(widths[i], cells[i].length());
        }
    }

    /** The line up to the name; question marks for a file whose attributes are not known. */
    public String columns(@Nullable Attributes attributes) {
        String[] cells = cells(attributes);
        StringBuilder line = new StringBuilder(80);
        for (int i = 0; i < COLUMNS; i++) {
            boolean left = i == 0 || i == OWNER || i == GROUP;
            String space = " ".repeat(Math.max(0, widths[i] - cells[i].length()));
            line.append(left ? "" : space)
                    .append(cells[i])
                    .append(left ? space : "")
                    .append(' ');
        }
        String when = attributes == null
                ? "               ?"
                : time.format(attributes.modifyTime().toInstant());
        return line.append(when).append(' ').toString();
    }

    private String[] cells(@Nullable Attributes attributes) {
        return attributes == null
                ? new String[] {"??????????", UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN}
                : new String[] {
                    FileModes.text(attributes),
                    Integer.toUnsignedString(attributes.links()),
                    names.user(attributes.uid()),
                    names.group(attributes.gid()),
                    size(attributes)
                };
    }

    private static String size(Attributes attributes) {
        boolean isDevice = attributes.type() == FileType.BLOCK_DEVICE || attributes.type() == FileType.CHARACTER_DEVICE;
        return isDevice
                ? Integer.toUnsignedString(attributes.deviceMajor()) + ", "
                        + Integer.toUnsignedString(attributes.deviceMinor())
                : Long.toUnsignedString(attributes.size());
    }
}
