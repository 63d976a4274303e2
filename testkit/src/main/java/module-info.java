// SPDX-License-Identifier: Apache-2.0

import org.jspecify.annotations.NullMarked;

/** The provider contract suite and shared test support. */
@NullMarked
module org.rpcrdma4j.testkit {
    requires transitive org.assertj.core;
    requires transitive org.junit.jupiter.api;
    requires transitive org.rpcrdma4j.verbs;
    requires static org.jspecify;

    exports org.rpcrdma4j.testkit;
    exports org.rpcrdma4j.testkit.capture;
    exports org.rpcrdma4j.testkit.contract;
    exports org.rpcrdma4j.testkit.proxy;
    exports org.rpcrdma4j.testkit.sim;
}
