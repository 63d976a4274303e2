// SPDX-License-Identifier: Apache-2.0

import org.jspecify.annotations.NullMarked;
import org.rpcrdma4j.iwarp.SoftIwarpProvider;
import org.rpcrdma4j.verbs.spi.RdmaProvider;

/** The software iWARP provider; a service, so it exports no package. */
@NullMarked
module org.rpcrdma4j.iwarp {
    requires org.rpcrdma4j.verbs;
    requires static org.jspecify;

    provides RdmaProvider with
            SoftIwarpProvider;
}
