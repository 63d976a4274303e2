// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.benchmarks;

import java.io.IOException;

/** Runs the benchmarks; see the package's description. */
public final class Main {
    private Main() {}

    /** Takes JMH's arguments. */
    public static void main(String... args) throws IOException {
        org.openjdk.jmh.Main.main(args);
    }
}
