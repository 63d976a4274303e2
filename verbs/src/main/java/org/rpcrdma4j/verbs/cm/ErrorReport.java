// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs.cm;

/**
 * The content of an error report between the two devices: on iWARP the Terminate message (RFC 5040, Section 4.8).
 *
 * @param layer 0 RDMAP, 1 DDP, 2 MPA
 * @param type the error type in that layer
 * @param code the error code of that type
 * @param description in words
 * @param segmentLength length of the offending segment; 0 if not given
 * @param segmentHeader the offending segment's header; empty if not given
 * @param readRequestHeader the offending Read Request's header; empty if not given
 */
public record ErrorReport(
        int layer,
        int type,
        int code,
        String description,
        int segmentLength,
        Octets segmentHeader,
        Octets readRequestHeader) {}
