// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

/**
 * What a mounted volume uses: the smaller of what the server offers (FSINFO) and the options ask for.
 *
 * @param readBytes one READ
 * @param writeBytes one WRITE
 * @param directoryBytes one READDIR or READDIRPLUS
 * @param maxFileBytes longest file that the server keeps
 */
public record NfsLimits(int readBytes, int writeBytes, int directoryBytes, long maxFileBytes) {}
