// SPDX-License-Identifier: Apache-2.0
/**
 * Copies files and trees between the local file system and mounted exports.
 *
 * <p>A {@link org.rpcrdma4j.cli.copy.Side} is one of the two; a {@link org.rpcrdma4j.cli.copy.Route} leads from one to the other. {@link
 * org.rpcrdma4j.cli.copy.Copier} walks a tree with one thread and copies its files with many. Each file is written under a temporary name and
 * renamed when all of it is on stable storage, so that under its own name there is the old file or the whole new one; {@link
 * org.rpcrdma4j.cli.copy.Temporaries} knows the temporary names that are in use, to remove them when a copy ends early.
 */
package org.rpcrdma4j.cli.copy;
