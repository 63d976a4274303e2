// SPDX-License-Identifier: Apache-2.0
/** What the commands for files show and do: listings, attributes in words, removal of trees. */
@NullMarked
package org.rpcrdma4j.cli.files;

import org.jspecify.annotations.NullMarked;
