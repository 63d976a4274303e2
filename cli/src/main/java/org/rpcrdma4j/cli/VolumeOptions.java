// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.client.MountOptions;
import org.rpcrdma4j.nfs.client.NfsUrl;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.transport.rpc.Credential;
import org.rpcrdma4j.verbs.RdmaDevice;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** How a command reaches the volumes that its URLs name: a mixin of all commands that take URLs. */
public final class VolumeOptions {
    /** The footer of a command that takes URLs, below its examples. */
    public static final String ABOUT_URLS =
            "%nA URL is nfs://HOST[:PORT]/EXPORT/PATH. %%HH in it is a byte of a name; port 20049 unless named, with --tcp 2049.";

    private static final long MAX_ID = 0xffff_ffffL;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Mixin
    private DeviceOption device;

    @Option(
            names = "--crc",
            paramLabel = "on|off",
            defaultValue = "on",
            description = "Whether to ask for checksums in frames (default: ${DEFAULT-VALUE}).")
    private Switch crc;

    @Option(names = "--tcp", description = "Use NFS over TCP instead of RDMA; ?proto=tcp in a URL is the same.")
    private boolean tcp;

    @Option(
            names = "--mountd-port",
            paramLabel = "N",
            defaultValue = "0",
            description = "TCP port of the server's MOUNT service, in case neither the NFS port nor rpcbind tells.")
    private int mountPort;

    @Option(
            names = "--handle",
            paramLabel = "HEX",
            description = "File handle of the export's root; the server's MOUNT service isn't needed then.")
    private @Nullable String handle;

    @Option(names = "--uid", paramLabel = "N", description = "User to act as (default: the one who runs this).")
    private @Nullable Long uid;

    @Option(names = "--gid", paramLabel = "N", description = "Group to act as (default: the one who runs this).")
    private @Nullable Long gid;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            description = "How long the server may be silent or busy (default: 60 silent, 300 busy).")
    private @Nullable Double timeout;

    @Option(names = "--stats", description = "At the end, print what the transport did on standard error.")
    private boolean stats;

    @SuppressWarnings("NullAway.Init") // picocli sets the annotated fields
    VolumeOptions() {}

    /** Ready to mount; nothing is mounted and no device opened before it is needed. */
    public Volumes volumes() {
        return new Volumes(
                this::isTcp,
                () -> device.open(Map.of("crc", crc.toString())),
                this::mountOptions,
                stats ? spec.commandLine().getErr() : null);
    }

    /** The command's streams. */
    public StandardStreams streams() {
        return RpcrdmaCommand.streams(spec.commandLine());
    }

    /** Does something with each URL; what fails is told in one line, and the next one's turn comes. Returns the exit status. */
    int forEach(List<NfsUrl> urls, Action action) throws IOException {
        int status = 0;
        try (Volumes volumes = volumes()) {
            for (NfsUrl url : urls) {
                try {
                    action.run(volumes.at(url));
                } catch (OutputException e) {
                    throw e;
                } catch (IOException e) {
                    status = Main.report(spec.commandLine(), e);
                }
            }
        }
        return status;
    }

    /** What is done with a URL. */
    @FunctionalInterface
    interface Action {
        void run(Volumes.Place place) throws IOException;
    }

    private boolean isTcp(NfsUrl url) {
        NfsUrl.Transport named = url.transport();
        return named == null ? tcp : named == NfsUrl.Transport.TCP;
    }

    private MountOptions mountOptions(@Nullable RdmaDevice opened) {
        MountOptions options = opened == null ? MountOptions.overTcp() : MountOptions.over(opened);
        require(mountPort >= 0 && mountPort <= 0xffff, "--mountd-port " + mountPort + ": expected 1 to 65535");
        options = options.withMountPort(mountPort);
        String hexadecimal = handle;
        if (hexadecimal != null) {
            options = options.withHandle(parseHandle(hexadecimal));
        }
        Double seconds = timeout;
        if (seconds != null) {
            require(seconds > 0 && seconds <= 86_400, "--timeout " + seconds + ": expected more than 0, up to 86400");
            Duration limit = Duration.ofNanos((long) (seconds * 1e9));
            options = options.withTimeouts(limit, limit);
        }
        return uid == null && gid == null ? options : options.withCredential(credential(options.credential()));
    }

    /** With another user, the own one's further groups would be a lie. */
    private Credential credential(Credential own) {
        Credential.Sys sys = own instanceof Credential.Sys known ? known : new Credential.Sys(0, "", 0, 0, List.of());
        return new Credential.Sys(
                sys.stamp(), sys.machine(), id("--uid", uid, sys.user()), id("--gid", gid, sys.group()), List.of());
    }

    private int id(String option, @Nullable Long asked, int own) {
        if (asked == null) {
            return own;
        }
        require(asked >= 0 && asked <= MAX_ID, option + " " + asked + ": expected 0 to " + MAX_ID);
        return asked.intValue();
    }

    private FileHandle parseHandle(String hexadecimal) {
        try {
            return FileHandle.parse(hexadecimal);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), "--handle " + hexadecimal + ": " + e.getMessage(), e);
        }
    }

    private void require(boolean right, String wrong) {
        if (!right) {
            throw new ParameterException(spec.commandLine(), wrong);
        }
    }

    /** Reads URLs from the command line. */
    public static final class UrlConverter implements ITypeConverter<NfsUrl> {
        /** For picocli. */
        public UrlConverter() {}

        @Override
        public NfsUrl convert(String text) {
            try {
                return NfsUrl.parse(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(String.valueOf(e.getMessage()));
            }
        }
    }
}
