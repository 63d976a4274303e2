// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.wire;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/** One frame of the vector file. */
record WireVector(String name, String hex, String description, Map<String, Object> fields) {
    /** A sample of the CRC alone. */
    record CrcSample(String name, String input, String wireBytes) {
        @Override
        public String toString() {
            return name;
        }
    }

    static List<WireVector> all() {
        return list("vectors").stream()
                .map(vector -> new WireVector(
                        (String) vector.get("name"),
                        (String) vector.get("hex"),
                        (String) vector.get("description"),
                        members(vector.get("fields"))))
                .toList();
    }

    static List<CrcSample> crcSamples() {
        return list("crc_reference").stream()
                .map(sample -> new CrcSample((String) sample.get("name"), (String) sample.get("input"), (String)
                        sample.get("crc_wire_bytes")))
                .toList();
    }

    static WireVector named(String name) {
        return all().stream()
                .filter(vector -> vector.name.equals(name))
                .findFirst()
                .orElseThrow();
    }

    byte[] bytes() {
        return HexFormat.of().parseHex(hex);
    }

    boolean isStartupFrame() {
        return fields.containsKey("key");
    }

    boolean mustBeRefused() {
        return name.startsWith("neg-");
    }

    boolean usesCrc() {
        return !name.contains("nocrc");
    }

    @Override
    public String toString() {
        return name;
    }

    private static List<Map<String, Object>> list(String member) {
        try {
            String text = new String(Resources.read("/vectors/iwarp-vectors.json"), StandardCharsets.UTF_8);
            return ((List<?>) members(Json.parse(text)).get(member))
                    .stream().map(WireVector::members).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @SuppressWarnings("unchecked") // every object of the file is parsed into such a map
    static Map<String, Object> members(Object value) {
        return (Map<String, Object>) value;
    }
}
