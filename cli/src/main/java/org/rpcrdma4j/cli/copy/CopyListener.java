// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.copy;

import java.io.IOException;

/** Hears how a copy goes. Called by any thread, several at a time; must not block. */
public interface CopyListener {
    /** A file is begun. */
    void began(String name);

    /** So much more data was copied. */
    void moved(long bytes);

    /** A file or link has been copied. */
    void copied();

    /** Something was not copied, or not as it should be; the copy goes on. */
    void failed(IOException why);
}
