// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.device;

import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * How a device is opened.
 *
 * @param name of the device
 * @param threads I/O threads; queue pairs are spread over them
 * @param busyPoll whether an idle thread spins a little before it sleeps: lower latency for more CPU
 * @param crc whether to ask for CRCs; the peer's wish turns them on too
 * @param enhanced whether to ask with MPA revision 2
 * @param fpduSizing how large FPDUs are
 * @param maxInboundReads most Reads served at a time for one peer
 * @param maxRegions most memory regions
 * @param maxQueuePairs most queue pairs
 * @param kickMillis after how long a peer that has not answered yet is woken by an empty Write; 0 for never
 * @param stagingBytes receive buffer of each I/O thread
 */
public record IwarpSettings(
        String name,
        int threads,
        boolean busyPoll,
        boolean crc,
        boolean enhanced,
        FpduSizing fpduSizing,
        int maxInboundReads,
        int maxRegions,
        int maxQueuePairs,
        int kickMillis,
        int stagingBytes) {

    /** How large the FPDUs are that we send. */
    public enum FpduSizing {
        /** Up to 64 KiB: for peers in software, which take any size. Beyond MULPDU on purpose. */
        SOFTWARE,
        /** One TCP segment each, by the interface's MTU (RFC 5044, Section 4.5): for iWARP cards. */
        HARDWARE
    }

    private static final int MIN_STAGING_BYTES = 128 * 1024;

    public IwarpSettings {
        require("threads", threads, 1, 1024);
        require("max-inbound-reads", maxInboundReads, 1, 0x3FFE);
        require("max-regions", maxRegions, 1, 1 << 23);
        require("max-queue-pairs", maxQueuePairs, 1, 1 << 24);
        require("kick-millis", kickMillis, 0, 60_000);
        require("staging-bytes", stagingBytes, MIN_STAGING_BYTES, 1 << 26);
    }

    private static void require(String what, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(
                    "setting " + what + " = " + value + ": must lie in " + least + ".." + most);
        }
    }

    /** The defaults. */
    public static IwarpSettings defaults() {
        return of(Map.of());
    }

    /**
     * Reads settings by name; what is not named has its default.
     *
     * @throws IllegalArgumentException if a name is unknown or a value wrong
     */
    public static IwarpSettings of(Map<String, String> given) {
        Reader read = new Reader(given);
        IwarpSettings settings = new IwarpSettings(
                read.value("name", "iwarp0", Function.identity()),
                read.number("threads", Math.clamp(Runtime.getRuntime().availableProcessors(), 2, 8)),
                read.flag("busy-poll", false),
                read.flag("crc", true),
                read.flag("enhanced", true),
                read.value("fpdu", FpduSizing.SOFTWARE, Reader::sizing),
                read.number("max-inbound-reads", 128),
                read.number("max-regions", 1 << 21),
                read.number("max-queue-pairs", 1 << 17),
                read.number("kick-millis", 200),
                read.number("staging-bytes", 512 * 1024));
        read.requireNothingLeft();
        return settings;
    }

    private static final class Reader {
        private final Map<String, String> left;
        private final TreeSet<String> known = new TreeSet<>();

        private Reader(Map<String, String> given) {
            left = new TreeMap<>(given);
        }

        private <T> T value(String name, T byDefault, Function<String, T> parse) {
            known.add(name);
            String text = left.remove(name);
            if (text == null) {
                return byDefault;
            }
            try {
                return parse.apply(text);
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("setting " + name + " = " + text + ": " + e.getMessage(), e);
            }
        }

        private int number(String name, int byDefault) {
            return value(name, byDefault, Reader::numberOf);
        }

        private static Integer numberOf(String text) {
            try {
                return Integer.decode(text);
            } catch (NumberFormatException e) {
                throw new IllegalArgumentException("must be a whole number", e);
            }
        }

        private boolean flag(String name, boolean byDefault) {
            return value(name, byDefault, Reader::flagOf);
        }

        private static Boolean flagOf(String text) {
            return switch (text.toLowerCase(Locale.ROOT)) {
                case "on", "true", "yes", "1" -> true;
                case "off", "false", "no", "0" -> false;
                default -> throw new IllegalArgumentException("must be on or off");
            };
        }

        private static FpduSizing sizing(String text) {
            return switch (text.toLowerCase(Locale.ROOT)) {
                case "software" -> FpduSizing.SOFTWARE;
                case "hardware" -> FpduSizing.HARDWARE;
                default -> throw new IllegalArgumentException("must be software or hardware");
            };
        }

        private void requireNothingLeft() {
            if (!left.isEmpty()) {
                throw new IllegalArgumentException(
                        "unknown setting " + left.keySet().iterator().next() + "; known are " + known);
            }
        }
    }
}
