// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.wire;

import java.io.BufferedReader;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.GZIPInputStream;
import org.rpcrdma4j.verbs.cm.Octets;

/** The messages of an NFS session between two Linux kernels, in their order. */
public record LinuxMessages(Octets clientPrivateData, Octets serverPrivateData, List<Message> messages) {

    /**
     * The payload of a Send.
     *
     * @param fromClient who sent it
     * @param invalidates whether it was a Send With Invalidate, of {@code key}
     */
    public record Message(boolean fromClient, boolean invalidates, int key, Octets payload) {}

    /** Reads a session: v3, v40, v41 or v42. */
    public static LinuxMessages read(String session) throws IOException {
        String name = "/captures/" + session + ".sends.gz";
        try (InputStream file = LinuxMessages.class.getResourceAsStream(name)) {
            if (file == null) {
                throw new FileNotFoundException(name);
            }
            BufferedReader lines =
                    new BufferedReader(new InputStreamReader(new GZIPInputStream(file), StandardCharsets.US_ASCII));
            Octets client = privateData(lines.readLine());
            Octets server = privateData(lines.readLine());
            List<Message> messages = new ArrayList<>();
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                messages.add(message(line));
            }
            return new LinuxMessages(client, server, messages);
        }
    }

    private static Octets privateData(String line) {
        return hex(line.substring(line.lastIndexOf(' ') + 1));
    }

    private static Message message(String line) {
        int key = line.indexOf(' ') + 1;
        int payload = line.indexOf(' ', key) + 1;
        boolean invalidates = line.charAt(key) != '-';
        return new Message(
                line.startsWith("call"),
                invalidates,
                invalidates ? Integer.parseUnsignedInt(line, key, payload - 1, 16) : 0,
                hex(line.substring(payload)));
    }

    private static Octets hex(String digits) {
        return Octets.of(HexFormat.of().parseHex(digits));
    }
}
