// SPDX-License-Identifier: Apache-2.0
/** DDP (RFC 5041): the headers of tagged and untagged segments, read and written in place. */
@NullMarked
package org.rpcrdma4j.iwarp.ddp;

import org.jspecify.annotations.NullMarked;
