// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.wire;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.GZIPInputStream;

/** The files of the test class path. */
final class Resources {
    private Resources() {}

    /** The content of a file, uncompressed if its name ends so. */
    static byte[] read(String name) throws IOException {
        try (InputStream file = Resources.class.getResourceAsStream(name)) {
            if (file == null) {
                throw new FileNotFoundException(name);
            }
            if (!name.endsWith(".gz")) {
                return file.readAllBytes();
            }
            try (InputStream content = new GZIPInputStream(file)) {
                return content.readAllBytes();
            }
        }
    }
}
