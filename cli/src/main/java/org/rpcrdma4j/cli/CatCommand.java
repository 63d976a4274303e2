// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import org.rpcrdma4j.nfs.client.NfsBuffer;
import org.rpcrdma4j.nfs.client.NfsFile;
import org.rpcrdma4j.nfs.client.NfsReader;
import org.rpcrdma4j.nfs.client.NfsUrl;
import org.rpcrdma4j.nfs.protocol.NfsException;
import org.rpcrdma4j.nfs.protocol.Status;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Writes files to standard output. */
@Command(
        name = "cat",
        description = "Writes files to standard output, one after the other.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  rpcrdma cat nfs://server.example/export/notes.txt",
            "  rpcrdma cat nfs://127.0.0.1/backup.tar.zst | zstd -d | tar x",
            VolumeOptions.ABOUT_URLS
        })
final class CatCommand implements Callable<Integer> {
    @Parameters(
            paramLabel = "URL",
            arity = "1..*",
            converter = VolumeOptions.UrlConverter.class,
            description = "The files.")
    private List<NfsUrl> urls;

    @Mixin
    private VolumeOptions options;

    @SuppressWarnings("NullAway.Init") // picocli sets the annotated fields
    CatCommand() {}

    @Override
    public Integer call() throws IOException {
        return options.forEach(urls, this::write);
    }

    private void write(Volumes.Place place) throws IOException {
        NfsFile file = place.volume().file(place.path(), true);
        if (!file.attributes().isRegular()) {
            Status status = file.attributes().isDirectory() ? Status.ISDIR : Status.INVAL;
            throw new NfsException(
                    status,
                    "read",
                    place.url().display(),
                    status == Status.ISDIR ? status.text() : "not a regular file");
        }
        StandardStreams streams = options.streams();
        try (NfsReader reader = place.volume().openRead(file)) {
            while (true) {
                try (NfsBuffer buffer = reader.next()) {
                    if (buffer == null) {
                        return;
                    }
                    streams.write(buffer.data().asByteBuffer());
                }
            }
        }
    }
}
