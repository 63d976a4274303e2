// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mem;

/** The answers of an access check, in the order in which they are tried. */
public enum AccessFault {
    /** The access may go on. */
    NONE,
    /** Nobody has this STag, its key is of another registration, or the region is not valid. */
    INVALID_STAG,
    /** The region belongs to another protection domain or another queue pair. */
    OTHER_STREAM,
    /** The region does not have the right. */
    NO_RIGHT,
    /** Address and length together pass the end of the 64-bit space. */
    WRAP,
    /** The range lies outside the region. */
    OUT_OF_BOUNDS,
    /** The memory behind the region cannot be touched any more: its arena was closed, or its file cut. */
    MEMORY_GONE
}
