// SPDX-License-Identifier: Apache-2.0
/**
 * NFS version 3 and MOUNT version 3 (RFC 1813) as records, with their XDR in both directions.
 *
 * <p>For each procedure there is a class of its name with nested {@code Arguments} and {@code Results}; results that differ by status are
 * sealed: {@code Ok} or {@code Failed}. Every value has {@code write(XdrWriter)} and a static {@code read(XdrReader)}; reading refuses what
 * the RFC doesn't allow with an {@link org.rpcrdma4j.transport.xdr.XdrException} and never allocates beyond the bytes at hand. Names are
 * bytes, not text.
 *
 * <p>Records are immutable. The data of READ and WRITE is memory of whoever made the record and isn't copied.
 */
package org.rpcrdma4j.nfs.protocol;
