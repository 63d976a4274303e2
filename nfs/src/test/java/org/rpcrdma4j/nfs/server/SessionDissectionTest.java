// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rpcrdma4j.nfs.client.CreateMode;
import org.rpcrdma4j.nfs.client.MountOptions;
import org.rpcrdma4j.nfs.client.NfsBuffer;
import org.rpcrdma4j.nfs.client.NfsClient;
import org.rpcrdma4j.nfs.client.NfsFile;
import org.rpcrdma4j.nfs.client.NfsListing;
import org.rpcrdma4j.nfs.client.NfsPath;
import org.rpcrdma4j.nfs.client.NfsReader;
import org.rpcrdma4j.nfs.client.NfsReply;
import org.rpcrdma4j.nfs.client.NfsUrl;
import org.rpcrdma4j.nfs.client.NfsVolume;
import org.rpcrdma4j.nfs.client.NfsWriter;
import org.rpcrdma4j.nfs.protocol.Access;
import org.rpcrdma4j.nfs.protocol.CookieVerifier;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.FileType;
import org.rpcrdma4j.nfs.protocol.GetAttr;
import org.rpcrdma4j.nfs.protocol.Link;
import org.rpcrdma4j.nfs.protocol.Lookup;
import org.rpcrdma4j.nfs.protocol.MkNod;
import org.rpcrdma4j.nfs.protocol.NfsResults;
import org.rpcrdma4j.nfs.protocol.PathBytes;
import org.rpcrdma4j.nfs.protocol.PathConf;
import org.rpcrdma4j.nfs.protocol.Procedure;
import org.rpcrdma4j.nfs.protocol.ReadDir;
import org.rpcrdma4j.nfs.protocol.ReadDirPlus;
import org.rpcrdma4j.nfs.protocol.SetAttributes;
import org.rpcrdma4j.nfs.protocol.Status;
import org.rpcrdma4j.testkit.capture.PcapWriter;
import org.rpcrdma4j.testkit.capture.RecordingProxy;
import org.rpcrdma4j.testkit.capture.Tshark;
import org.rpcrdma4j.transport.event.Counters;

/**
 * Wireshark, an implementation that is not ours, reads a whole session between our client and our server: each message is the call or the
 * reply that it was meant to be, and nothing is malformed but what Wireshark marks in sessions of Linux, too: replies to READ whose data went
 * into a Write chunk, which it looks for in the reply. The capture stays in the build folder.
 */
@Timeout(120)
class SessionDissectionTest {

    private static final Path FOLDER = Path.of("target", "captures");
    private static final int[] SIZES = {1, 3, 4, 1000, 1023, 4096, 65_536, 300_001, 1_048_576};
    private static final String MALFORMED = "(?m)^\\[Malformed Packet";
    private static final Pattern MESSAGE = Pattern.compile("(?m)^Network File System, (\\w+) (Call|Reply)");
    private static final Pattern EXPERT = Pattern.compile("(?m)^ *\\[Expert Info \\((\\w+/\\w+)\\): ([^\\n]*)");

    @TempDir
    Path directory;

    @Test
    void tsharkReadsASessionAsNfsAndFindsNothingMalformedThatItDoesNotFindInLinuxToo() throws Exception {
        Path capture = FOLDER.resolve("nfs.pcap");
        Counters<Procedure> done = record(capture);
        String text = Tshark.read(capture, "-V");

        Map<Procedure, Long> calls = new EnumMap<>(Procedure.class);
        Map<Procedure, Long> replies = new EnumMap<>(Procedure.class);
        MESSAGE.matcher(text)
                .results()
                .forEach(match -> (match.group(2).equals("Call") ? calls : replies)
                        .merge(Procedure.valueOf(match.group(1)), 1L, Long::sum));
        Map<Procedure, Long> expected = new EnumMap<>(done.snapshot());
        // NULL is answered without NFS, and tshark names it by no word.
        expected.remove(Procedure.NULL);
        assertThat(expected.values())
                .as("each procedure at least once: %s", expected)
                .doesNotContain(0L);
        assertThat(calls).as("calls").isEqualTo(expected);
        // What it marks is in its text twice.
        long twice = count(text, MALFORMED);
        assertThat(twice).as("malformed").isLessThanOrEqualTo(expected.get(Procedure.READ));
        expected.merge(Procedure.READ, twice, Long::sum);
        assertThat(replies).as("replies").isEqualTo(expected);

        assertThat(count(text, "\\(Bad CRC32")).as("FPDUs with a bad CRC").isZero();
        assertThat(count(text, "(?m)^Mount Service")).as("MOUNT messages").isGreaterThanOrEqualTo(4);
        long messages = count(text, "(?m)^RPC over RDMA");
        assertThat(count(text, "(?m)^Remote Procedure Call, Type:"))
                .as("RPC messages in %s transport messages", messages)
                .isEqualTo(messages + twice);
        onlyRepliesToReadAreMalformed(text);
    }

    private static long count(String text, String pattern) {
        return Pattern.compile(pattern).matcher(text).results().count();
    }

    private static void onlyRepliesToReadAreMalformed(String text) {
        for (MatchResult malformed : Pattern.compile("(?m)^\\[Malformed Packet")
                .matcher(text)
                .results()
                .toList()) {
            String before = text.substring(0, malformed.start());
            assertThat(before.substring(Math.max(0, before.lastIndexOf("\nNetwork File System, "))))
                    .as("what is malformed")
                    .startsWith("\nNetwork File System, READ Reply");
        }
        assertThat(EXPERT.matcher(text).results())
                .as("what tshark remarks")
                .allSatisfy(remark -> assertThat(remark.group(1))
                        .as(remark.group())
                        .isIn("Chat/Sequence", "Note/Sequence", "Error/Malformed"));
    }

    private Counters<Procedure> record(Path capture) throws Exception {
        Files.createDirectories(FOLDER);
        try (ServerFixture fixture = new ServerFixture(directory);
                PcapWriter pcap = new PcapWriter(capture)) {
            try (RecordingProxy proxy = new RecordingProxy(fixture.address(), pcap)) {
                NfsUrl url = NfsUrl.parse("nfs://127.0.0.1:" + proxy.address().getPort() + "/");
                MountOptions options = MountOptions.over(fixture.clientDevice)
                        .withCredential(ServerFixture.USER)
                        .withTransferBytes(1 << 20, 1 << 20)
                        .withTimeouts(Duration.ofSeconds(30), Duration.ofSeconds(30));
                try (NfsVolume volume = NfsVolume.mount(url, options)) {
                    files(volume);
                    names(volume);
                    restOfTheProcedures(volume.client(), volume.root());
                }
            }
            return fixture.server.calls();
        }
    }

    private static void files(NfsVolume volume) throws IOException {
        for (int size : SIZES) {
            byte[] data = new byte[size];
            new Random(size).nextBytes(data);
            NfsPath path = NfsPath.parse("file" + size);
            NfsFile file = volume.createFile(path, CreateMode.NEW, SetAttributes.NONE.withMode(0640));
            try (NfsWriter writer = volume.openWrite(file)) {
                writer.write(0, ByteBuffer.wrap(data));
            }
            long sum = 0;
            try (NfsReader reader = volume.openRead(path)) {
                for (NfsBuffer buffer = reader.next(); buffer != null; buffer = reader.next()) {
                    sum += buffer.length();
                    buffer.close();
                }
            }
            assertThat(sum).isEqualTo(size);
        }
    }

    private static void names(NfsVolume volume) throws IOException {
        NfsPath folder = NfsPath.parse("folder");
        volume.createDirectory(folder, SetAttributes.NONE.withMode(0750));
        for (int i = 0; i < 200; i++) {
            String name = "folder/a name that is long enough for a reply by chunk, " + i;
            volume.createFile(NfsPath.parse(name), CreateMode.EXISTING_TOO, SetAttributes.NONE);
        }
        try (NfsListing listing = volume.list(folder)) {
            int entries = 0;
            while (listing.next() != null) {
                entries++;
            }
            assertThat(entries).isEqualTo(200);
        }
        NfsPath link = NfsPath.parse("link");
        volume.createSymbolicLink(link, PathBytes.of("folder/" + "x".repeat(900)), SetAttributes.NONE);
        assertThat(volume.readLink(link).length()).isEqualTo(907);
        volume.rename(link, NfsPath.parse("folder/moved"));
        volume.remove(NfsPath.parse("folder/moved"));
        volume.setAttributes(NfsPath.parse("file3"), SetAttributes.NONE.withSize(2), true);
        assertThat(volume.attributes(NfsPath.parse("file3"), true).size()).isEqualTo(2);
        volume.createDirectory(NfsPath.parse("empty"), SetAttributes.NONE);
        volume.removeDirectory(NfsPath.parse("empty"));
        assertThat(volume.statFilesystem().status()).isEqualTo(Status.OK);
    }

    private static void restOfTheProcedures(NfsClient client, FileHandle root) throws Exception {
        client.nothing().get(30, TimeUnit.SECONDS);
        FileHandle file =
                ((Lookup.Ok) results(client.lookup(new Lookup.Arguments(root, FileName.of("file1000"))))).file();
        results(client.getAttributes(new GetAttr.Arguments(file)));
        results(client.access(new Access.Arguments(root, Access.READ | Access.LOOKUP)));
        results(client.link(new Link.Arguments(file, root, FileName.of("second name"))));
        results(client.makeNode(new MkNod.Arguments(
                root, FileName.of("pipe"), new MkNod.Pipe(FileType.FIFO, SetAttributes.NONE.withMode(0600)))));
        results(client.pathConfiguration(new PathConf.Arguments(root)));
        results(client.readDirectory(new ReadDir.Arguments(root, 0, CookieVerifier.NONE, 8192)));
        results(client.readDirectoryPlus(new ReadDirPlus.Arguments(root, 0, CookieVerifier.NONE, 900, 8192)));
        // Failures have results of their own.
        client.lookup(new Lookup.Arguments(root, FileName.of("not there"))).get(30, TimeUnit.SECONDS);
    }

    private static <R extends NfsResults> R results(CompletableFuture<NfsReply<R>> reply) throws Exception {
        return reply.get(30, TimeUnit.SECONDS).results();
    }
}
