// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.filesystem;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.client.MountOptions;
import org.rpcrdma4j.nfs.client.NfsUrl;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.transport.rpc.Credential;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.spi.RdmaDevices;

/**
 * What the map of {@link NfsFileSystemProvider#newFileSystem} says. Each key is used once; what is left over at the end is unknown, and
 * refused.
 */
final class MountSettings {

    private static final String DEFAULT_DEVICE = "iwarp";
    private static final List<String> KEYS = List.of(
            "device",
            "crc",
            "mountPort",
            "handle",
            "uid",
            "gid",
            "groups",
            "timeout",
            "busyTimeout",
            "maxInFlight",
            "readBytes",
            "writeBytes",
            "readAhead",
            "writeBehind",
            "uncommittedBytes");

    private final Map<String, Object> values;

    private MountSettings(Map<String, ?> environment) {
        values = new TreeMap<>(environment);
        TreeSet<String> unknown = new TreeSet<>(values.keySet());
        KEYS.forEach(unknown::remove);
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException(
                    "unknown settings " + unknown + " of an nfs file system; there are: " + KEYS);
        }
    }

    /**
     * How to mount.
     *
     * @param url with the port of MOUNT and the handle that the settings name, unless it names its own
     * @param owned the device if it was opened for this, and is to be closed behind it
     */
    record Mount(NfsUrl url, MountOptions options, @Nullable RdmaDevice owned) {}

    /**
     * Reads the settings, and opens the device.
     *
     * @throws IllegalArgumentException if a key is unknown or a value is wrong
     * @throws IOException if there is no such device here
     */
    static Mount read(NfsUrl url, Map<String, ?> environment) throws IOException {
        MountSettings settings = new MountSettings(environment);
        NfsUrl full = settings.completed(url);
        MountOptions options = settings.options();
        if (full.transport() == NfsUrl.Transport.TCP) {
            return new Mount(full, options, null);
        }
        if (settings.values.get("device") instanceof RdmaDevice given) {
            if (settings.values.containsKey("crc")) {
                throw new IllegalArgumentException(
                        "crc is for a device that is opened here, not for one that is given");
            }
            return new Mount(full, withDevice(options, given), null);
        }
        RdmaDevice device = settings.openDevice();
        return new Mount(full, withDevice(options, device), device);
    }

    private static MountOptions withDevice(MountOptions options, RdmaDevice device) {
        return new MountOptions(
                device,
                options.credential(),
                options.mountPort(),
                options.handle(),
                options.maxInFlight(),
                options.timeout(),
                options.busyTimeout(),
                options.readBytes(),
                options.writeBytes(),
                options.readAhead(),
                options.writeBehind(),
                options.uncommittedBytes());
    }

    private RdmaDevice openDevice() throws IOException {
        Object name = values.getOrDefault("device", DEFAULT_DEVICE);
        if (!(name instanceof String provider)) {
            throw wrong("device", name, "an RdmaDevice or the name of a provider");
        }
        Object crc = values.get("crc");
        String flag = crc instanceof Boolean on ? (on ? "on" : "off") : String.valueOf(crc);
        try {
            return RdmaDevices.open(provider, crc == null ? Map.of() : Map.of("crc", flag));
        } catch (IllegalStateException e) {
            throw new IOException("cannot open the RDMA device: " + e.getMessage(), e);
        }
    }

    private NfsUrl completed(NfsUrl url) {
        int port = url.mountPort() == 0 ? (int) number("mountPort", 0, 1, 65535) : url.mountPort();
        FileHandle handle = url.handle();
        Object given = values.get("handle");
        if (handle == null && given != null) {
            handle = given instanceof FileHandle own ? own : FileHandle.parse(String.valueOf(given));
        }
        return new NfsUrl(url.host(), url.port(), url.path(), url.transport(), port, handle);
    }

    private MountOptions options() {
        MountOptions usual = MountOptions.overTcp();
        return new MountOptions(
                null,
                credential(usual.credential()),
                0,
                null,
                (int) number("maxInFlight", usual.maxInFlight(), 1, Integer.MAX_VALUE),
                duration("timeout", usual.timeout()),
                duration("busyTimeout", usual.busyTimeout()),
                (int) number("readBytes", usual.readBytes(), 1, Integer.MAX_VALUE),
                (int) number("writeBytes", usual.writeBytes(), 1, Integer.MAX_VALUE),
                (int) number("readAhead", usual.readAhead(), 1, Integer.MAX_VALUE),
                (int) number("writeBehind", usual.writeBehind(), 1, Integer.MAX_VALUE),
                number("uncommittedBytes", usual.uncommittedBytes(), 1, Long.MAX_VALUE));
    }

    /** Who calls: this process's user, but for what is given. Whoever is somebody else has none of this user's groups. */
    private Credential credential(Credential own) {
        if (!(own instanceof Credential.Sys user)) {
            return own;
        }
        boolean isOther = values.containsKey("uid") || values.containsKey("gid");
        List<Integer> groups = values.containsKey("groups") ? groups() : isOther ? List.of() : user.groups();
        return new Credential.Sys(
                user.stamp(),
                user.machine(),
                (int) number("uid", user.user(), 0, 0xffff_ffffL),
                (int) number("gid", user.group(), 0, 0xffff_ffffL),
                groups);
    }

    private List<Integer> groups() {
        Object value = values.get("groups");
        Collection<?> items = value instanceof Collection<?> many
                ? many
                : List.of(String.valueOf(value).split(",", -1));
        List<Integer> groups = new ArrayList<>();
        for (Object item : items) {
            groups.add((int) number("groups", item, 0, 0xffff_ffffL));
        }
        return groups;
    }

    /** The number that is given, or the usual one, which need not keep to the bounds. */
    private long number(String key, long usual, long least, long most) {
        Object value = values.get(key);
        return value == null ? usual : number(key, value, least, most);
    }

    private static long number(String key, Object value, long least, long most) {
        try {
            long number = Long.parseLong(String.valueOf(value).strip());
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException _) {
            // Told below, as a number out of its bounds is.
        }
        throw wrong(key, value, "a number from " + least + " to " + most);
    }

    private Duration duration(String key, Duration usual) {
        Object value = values.get(key);
        if (value == null) {
            return usual;
        }
        return value instanceof Duration given ? given : Duration.ofSeconds(number(key, value, 0, Integer.MAX_VALUE));
    }

    private static IllegalArgumentException wrong(String key, Object value, String wanted) {
        return new IllegalArgumentException(key + " is to be " + wanted + ", not \"" + value + "\"");
    }
}
