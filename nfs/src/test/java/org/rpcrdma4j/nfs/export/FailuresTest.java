// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.AccessDeniedException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotLinkException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rpcrdma4j.nfs.protocol.Status;

class FailuresTest {

    @Test
    void exceptionsWithATypeAreKnownByIt() {
        assertThat(Failures.statusOf(new NoSuchFileException("x"))).isEqualTo(Status.NOENT);
        assertThat(Failures.statusOf(new FileAlreadyExistsException("x"))).isEqualTo(Status.EXIST);
        assertThat(Failures.statusOf(new DirectoryNotEmptyException("x"))).isEqualTo(Status.NOTEMPTY);
        assertThat(Failures.statusOf(new AccessDeniedException("x"))).isEqualTo(Status.ACCES);
        assertThat(Failures.statusOf(new NotLinkException("x"))).isEqualTo(Status.INVAL);
        assertThat(Failures.statusOf(new AtomicMoveNotSupportedException("x", "y", "z")))
                .isEqualTo(Status.XDEV);
        assertThat(Failures.statusOf(new ClosedChannelException())).isEqualTo(Status.JUKEBOX);
        assertThat(Failures.statusOf(new Refusal(Status.ROFS))).isEqualTo(Status.ROFS);
    }

    @ParameterizedTest
    @CsvSource({
        "No space left on device, NOSPC",
        "Disk quota exceeded, DQUOT",
        "Read-only file system, ROFS",
        "File name too long, NAMETOOLONG",
        "Too many links, MLINK",
        "File too large, FBIG",
        "Input/output error, IO",
        "Operation not permitted, PERM",
        "Too many open files, JUKEBOX",
        "Device or resource busy, ACCES",
        "Etwas anderes, IO"
    })
    void othersAreKnownByTheTextOfTheSystem(String text, Status status) {
        assertThat(Failures.statusOf(new FileSystemException("file", null, text)))
                .isEqualTo(status);
        assertThat(Failures.statusOf(new IOException(text))).isEqualTo(status);
    }

    @Test
    void aFailureWithoutATextIsOne() {
        assertThat(Failures.statusOf(new IOException())).isEqualTo(Status.IO);
        assertThat(Failures.statusOf(new FileSystemException("file"))).isEqualTo(Status.IO);
    }
}
