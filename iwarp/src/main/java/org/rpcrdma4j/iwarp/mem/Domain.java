// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mem;

import org.rpcrdma4j.verbs.ProtectionDomain;

/** A protection domain as its regions see it: an identity that also counts what belongs to it. */
public interface Domain extends ProtectionDomain {

    /** A region of this domain ceased to be. */
    void regionGone();
}
