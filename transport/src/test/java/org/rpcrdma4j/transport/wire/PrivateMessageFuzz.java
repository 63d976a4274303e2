// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.wire;

import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.rpcrdma4j.verbs.cm.Octets;

/** Any bytes as private data: no exception, and the same result as by a pattern for their hexadecimal digits. */
public final class PrivateMessageFuzz {
    private static final Pattern BLOCK =
            Pattern.compile("^(?:..)*?f6ab0e1801(?<flags>..)(?<send>..)(?<receive>..)", Pattern.DOTALL);
    private static final int MAX_BYTES = 1024;

    private PrivateMessageFuzz() {}

    /** Called by the fuzzer. */
    public static void fuzzerTestOneInput(byte[] input) {
        if (input.length > MAX_BYTES) {
            return; // no connection manager hands over so much, and the pattern needs stack for it
        }
        PrivateMessage found = PrivateMessage.find(Octets.of(input));
        Matcher block = BLOCK.matcher(HexFormat.of().formatHex(input));
        PrivateMessage expected = block.find()
                ? new PrivateMessage(
                        (number(block, "flags") & 1) == 1,
                        1024 + 1024 * number(block, "send"),
                        1024 + 1024 * number(block, "receive"))
                : PrivateMessage.DEFAULT;
        if (!found.equals(expected) || !PrivateMessage.find(found.encode()).equals(found)) {
            throw new AssertionError("expected " + expected + ", found " + found);
        }
    }

    private static int number(Matcher block, String group) {
        return HexFormat.fromHexDigits(block.group(group));
    }
}
