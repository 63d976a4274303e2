// SPDX-License-Identifier: Apache-2.0
/** The verbs objects of the software iWARP device: device, protection domain, queue pair, connection manager. */
@NullMarked
package org.rpcrdma4j.iwarp.device;

import org.jspecify.annotations.NullMarked;
