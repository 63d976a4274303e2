// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.proxy;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Locale;

/**
 * A {@link FaultProxy} in a process of its own, told what to do over a port of the loopback interface: one connection for each command, a
 * line with the command, a line with the answer.
 *
 * <pre>
 *   status                   counters, NAME=VALUE
 *   cut                      reset all connections
 *   cut-every up|down BYTES  reset one after each so many bytes
 *   flip-every up|down BYTES invert a bit after each so many bytes
 *   heal                     no more of these two
 *   freeze, thaw             stand still, go on
 *   quit                     end
 * </pre>
 */
public final class FaultProxyCommand {
    private FaultProxyCommand() {}

    /**
     * Runs until it is told to quit; prints the two ports first.
     *
     * @param arguments the target's address and port, and the port to listen on (0 for any)
     * @throws IOException a port cannot be had
     */
    public static void main(String... arguments) throws IOException {
        if (arguments.length != 3) {
            throw new IllegalArgumentException("usage: FaultProxyCommand TARGET_ADDRESS TARGET_PORT LISTEN_PORT");
        }
        InetSocketAddress target = new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1]));
        PrintStream out = System.out;
        try (FaultProxy proxy = FaultProxy.start(Integer.parseInt(arguments[2]), target);
                ServerSocket control = new ServerSocket(0, 16, InetAddress.getLoopbackAddress())) {
            out.println("listen=" + proxy.address().getPort() + " control=" + control.getLocalPort());
            out.flush();
            boolean more = true;
            while (more) {
                try (Socket socket = control.accept()) {
                    more = serve(proxy, socket);
                }
            }
        }
    }

    private static boolean serve(FaultProxy proxy, Socket socket) throws IOException {
        socket.setSoTimeout(5000);
        String line = new BufferedReader(new InputStreamReader(socket.getInputStream(), US_ASCII)).readLine();
        String answer;
        try {
            answer = execute(proxy, line == null ? "" : line.strip());
        } catch (IllegalArgumentException e) {
            answer = "error: " + e.getMessage();
        }
        socket.getOutputStream().write((answer + "\n").getBytes(US_ASCII));
        return !"quit".equals(line);
    }

    /** Carries out one command and gives the answer's line. */
    static String execute(FaultProxy proxy, String line) {
        String[] words = line.split(" +");
        switch (words[0]) {
            case "status" -> {
                return proxy.status().toString();
            }
            case "cut" -> proxy.cut();
            case "cut-every" -> proxy.cutEvery(direction(words), count(words));
            case "flip-every" -> proxy.flipEvery(direction(words), count(words));
            case "heal" -> proxy.heal();
            case "freeze" -> proxy.freeze();
            case "thaw" -> proxy.thaw();
            case "quit" -> {}
            default -> throw new IllegalArgumentException("no such command: " + line);
        }
        return "ok";
    }

    private static Direction direction(String[] words) {
        if (words.length != 3) {
            throw new IllegalArgumentException("expected " + words[0] + " up|down BYTES");
        }
        return Direction.valueOf(words[1].toUpperCase(Locale.ROOT));
    }

    private static long count(String[] words) {
        return Long.parseLong(words[2]);
    }
}
