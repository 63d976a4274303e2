// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.files;

import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.FileType;
import org.rpcrdma4j.nfs.protocol.PathBytes;
import org.rpcrdma4j.nfs.protocol.Time;

/**
 * All that is known of one file.
 *
 * @param attributes what the server tells
 * @param handle what the server calls it by; null if not known
 * @param target what it says, of a symbolic link
 */
public record FileFacts(
        Attributes attributes,
        @Nullable FileHandle handle,
        @Nullable PathBytes target) {

    /** For programs: members of a JSON object. Numbers are unsigned, times in UTC. */
    public Map<String, Object> members() {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("type", attributes.type().name().toLowerCase(Locale.ROOT));
        members.put("mode", String.format(Locale.ROOT, "%04o", attributes.mode()));
        members.put("links", Integer.toUnsignedLong(attributes.links()));
        members.put("uid", Integer.toUnsignedLong(attributes.uid()));
        members.put("gid", Integer.toUnsignedLong(attributes.gid()));
        members.put("size", unsigned(attributes.size()));
        members.put("used", unsigned(attributes.used()));
        if (isDevice()) {
            members.put("device", device());
        }
        members.put("fileSystem", unsigned(attributes.fileSystem()));
        members.put("fileId", unsigned(attributes.fileId()));
        members.put("accessed", attributes.accessTime().toInstant());
        members.put("modified", attributes.modifyTime().toInstant());
        members.put("changed", attributes.changeTime().toInstant());
        if (handle != null) {
            members.put("handle", handle);
        }
        if (target != null) {
            members.put("target", target);
        }
        return members;
    }

    private static Number unsigned(long value) {
        return new java.math.BigInteger(Long.toUnsignedString(value));
    }

    /** For people: what and how much, in the order of display; the link's target apart. Times are those of the zone. */
    public Map<String, String> lines(LocalNames names, ZoneId zone) {
        Map<String, String> lines = new LinkedHashMap<>();
        lines.put("type", FileModes.words(attributes.type()) + (isDevice() ? " " + device() : ""));
        lines.put(
                "size",
                Long.toUnsignedString(attributes.size()) + " bytes, " + Long.toUnsignedString(attributes.used())
                        + " on the disk");
        lines.put("mode", String.format(Locale.ROOT, "%04o %s", attributes.mode(), FileModes.text(attributes)));
        lines.put("links", Integer.toUnsignedString(attributes.links()));
        lines.put("owner", named(attributes.uid(), names.user(attributes.uid())));
        lines.put("group", named(attributes.gid(), names.group(attributes.gid())));
        lines.put("file id", Long.toUnsignedString(attributes.fileId()));
        lines.put("file system", Long.toHexString(attributes.fileSystem()));
        DateTimeFormatter form = DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSSSSSSSS xx", Locale.ROOT)
                .withZone(zone);
        lines.put("accessed", time(form, attributes.accessTime()));
        lines.put("modified", time(form, attributes.modifyTime()));
        lines.put("changed", time(form, attributes.changeTime()));
        if (handle != null) {
            lines.put("handle", handle.toString());
        }
        return lines;
    }

    private static String named(int id, String name) {
        String number = Integer.toUnsignedString(id);
        return name.equals(number) ? number : number + " " + name;
    }

    private static String time(DateTimeFormatter form, Time time) {
        return form.format(time.toInstant());
    }

    private boolean isDevice() {
        return attributes.type() == FileType.BLOCK_DEVICE || attributes.type() == FileType.CHARACTER_DEVICE;
    }

    private String device() {
        return Integer.toUnsignedString(attributes.deviceMajor()) + ", "
                + Integer.toUnsignedString(attributes.deviceMinor());
    }
}
